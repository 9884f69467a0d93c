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

final class Engine {
    static final String VERSION = "5.7.0";

    static <T> StreamSourceStage<T> from(Pipeline pipeline, StreamSource<T> source) {
        return pipeline.readFrom(source);
    }

    static <T> void into(StreamStage<T> stage, Sink<T> sink) {
        stage.writeTo(sink);
    }

    /** Starts the engine, alone and on the loopback interface, and lets it run a pipeline. */
    static Job run(Pipeline pipeline) {
        System.setProperty("hazelcast.logging.type", "none");
        System.setProperty("hazelcast.phone.home.enabled", "false");
        System.setProperty("hazelcast.shutdownhook.enabled", "false");
        System.setProperty("hazelcast.socket.bind.any", "false");
        Config config = new Config();
        config.getJetConfig().setEnabled(true);
        NetworkConfig network = config.getNetworkConfig();
        network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        network.getJoin().getAutoDetectionConfig().setEnabled(false);
        network.getJoin().getMulticastConfig().setEnabled(false);
        return Hazelcast.newHazelcastInstance(config).getJet().newJob(pipeline);
    }

    private Engine() { }
}
