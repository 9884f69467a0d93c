// Runs HdrHistogram's own HistogramLogProcessor on each tag of a log, and prints the tag, its values, and their p50 and p99.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.HistogramLogProcessor;

class ReadLog {
    // `0.000: I:60 ( 64447.000 … ) T:60 ( p50 p90 p99 p99.9 p99.99 max )`
    private static final Pattern TOTAL = Pattern.compile("T:(\\d+) \\(\\s*([\\d.]+)\\s+[\\d.]+\\s+([\\d.]+)");

    public static void main(String[] args) throws Exception {
        Path log = Path.of(args[0]);
        Path out = Path.of(args[1]);
        TreeSet<String> tags = new TreeSet<>();
        for (String line : Files.readAllLines(log)) {
            if (line.startsWith("Tag=")) {
                tags.add(line.substring(4, line.indexOf(',')));
            }
        }
        for (String tag : tags) {
            // Its -o writes into files; the unit stays nanoseconds.
            String[] options = {"-i", log.toString(), "-o", out.toString(), "-tag", tag, "-outputValueUnitRatio", "1.0"};
            new HistogramLogProcessor(options).run();
            List<String> lines = Files.readAllLines(out);
            Matcher total = TOTAL.matcher(lines.get(lines.size() - 1));
            if (!total.find()) {
                throw new IllegalStateException(tag + ": " + lines.get(lines.size() - 1));
            }
            System.out.println(tag + "\t" + total.group(1) + "\t" + total.group(2) + "\t" + total.group(3));
        }
    }
}
