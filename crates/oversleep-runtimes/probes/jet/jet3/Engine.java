// Hazelcast Jet 3.2, when it was a product of its own.

import com.hazelcast.config.NetworkConfig;
import com.hazelcast.jet.Jet;
import com.hazelcast.jet.Job;
import com.hazelcast.jet.config.JetConfig;
import com.hazelcast.jet.pipeline.Pipeline;
import com.hazelcast.jet.pipeline.Sink;
import com.hazelcast.jet.pipeline.StreamSource;
import com.hazelcast.jet.pipeline.StreamSourceStage;
import com.hazelcast.jet.pipeline.StreamStage;
import java.util.function.Consumer;

final class Engine {
    static final String VERSION = "3.2.2";

    static <T> StreamSourceStage<T> from(Pipeline pipeline, StreamSource<T> source) {
        return pipeline.drawFrom(source);
    }

    static <T> void into(StreamStage<T> stage, Sink<T> sink) {
        stage.drainTo(sink);
    }

    /** Starts the engine on a network that is set up so, and lets it run a pipeline. */
    static Job run(Pipeline pipeline, Consumer<NetworkConfig> network) {
        JetConfig config = new JetConfig();
        network.accept(config.getHazelcastConfig().getNetworkConfig());
        return Jet.newJetInstance(config).newJob(pipeline);
    }

    private Engine() { }
}
