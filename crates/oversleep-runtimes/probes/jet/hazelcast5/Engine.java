// Hazelcast 5, of which Jet is a part.

import com.hazelcast.config.Config;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.jet.Job;
import com.hazelcast.jet.pipeline.Pipeline;
import com.hazelcast.jet.pipeline.Sink;
import com.hazelcast.jet.pipeline.StreamSource;
import com.hazelcast.jet.pipeline.StreamSourceStage;
import com.hazelcast.jet.pipeline.StreamStage;
import java.util.function.Consumer;

final class Engine {
    static final String VERSION = "5.7.0";

    static <T> StreamSourceStage<T> from(Pipeline pipeline, StreamSource<T> source) {
        return pipeline.readFrom(source);
    }

    static <T> void into(StreamStage<T> stage, Sink<T> sink) {
        stage.writeTo(sink);
    }

    /** Starts the engine on a network that is set up so, and lets it run a pipeline. */
    static Job run(Pipeline pipeline, Consumer<NetworkConfig> network) {
        Config config = new Config();
        config.getJetConfig().setEnabled(true);
        network.accept(config.getNetworkConfig());
        config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
        return Hazelcast.newHazelcastInstance(config).getJet().newJob(pipeline);
    }

    private Engine() { }
}
