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

final class Engine {
    static final String VERSION = "3.2.2";

    static <T> StreamSourceStage<T> from(Pipeline pipeline, StreamSource<T> source) {
        return pipeline.drawFrom(source);
    }

    static <T> void into(StreamStage<T> stage, Sink<T> sink) {
        stage.drainTo(sink);
    }

    /** Starts the engine, alone and on the loopback interface, and lets it run a pipeline. */
    static Job run(Pipeline pipeline) {
        System.setProperty("hazelcast.logging.type", "none");
        System.setProperty("hazelcast.phone.home.enabled", "false");
        System.setProperty("hazelcast.shutdownhook.enabled", "false");
        System.setProperty("hazelcast.socket.bind.any", "false");
        JetConfig config = new JetConfig();
        NetworkConfig network = config.getHazelcastConfig().getNetworkConfig();
        network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        network.getJoin().getMulticastConfig().setEnabled(false);
        return Jet.newJetInstance(config).newJob(pipeline);
    }

    private Engine() { }
}
