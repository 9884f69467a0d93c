package oversleep;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;

/**
 * The C library inside the jar, copied to a file of this process's own. The file is in a new directory that only this
 * user can enter, its hash is compared with the jar's, and it is removed as soon as the library is loaded. Windows keeps
 * the files of loaded libraries, so there a later process removes them.
 */
final class Bundled implements AutoCloseable {
    private static final String BEGIN = "oversleep-java-";

    private final Path directory;
    private final Path file;

    private Bundled(Path directory, Path file) {
        this.directory = directory;
        this.file = file;
    }

    Path file() {
        return file;
    }

    /** The names of the folders with libraries that may fit this machine, best first. */
    static List<String> folders() {
        String name = System.getProperty("os.name", "");
        String processor = System.getProperty("os.arch", "");
        processor = processor.equals("amd64") ? "x86_64" : processor;
        if (name.startsWith("Windows")) {
            return List.of("windows-" + processor);
        }
        if (name.startsWith("Mac")) {
            return List.of("macos-" + processor);
        }
        if (!name.startsWith("Linux")) {
            return List.of();
        }
        List<String> both = new ArrayList<>(List.of("linux-" + processor, "linux-musl-" + processor));
        if (Files.exists(Path.of("/lib/ld-musl-" + processor + ".so.1")) && !isGlibcHere(processor)) {
            Collections.reverse(both);
        }
        return both;
    }

    private static boolean isGlibcHere(String processor) {
        return Files.exists(Path.of("/lib64/ld-linux-x86-64.so.2"))
                || Files.exists(Path.of("/lib/ld-linux-" + processor + ".so.1"));
    }

    /** Copies the library of this folder; null if the jar has none. */
    static Bundled extract(String folder) throws IOException {
        String name = System.mapLibraryName("oversleep");
        String resource = "/META-INF/native/oversleep/" + folder + "/" + name;
        byte[] library = read(resource);
        byte[] stated = read(resource + ".sha256");
        if (library == null || stated == null) {
            return null;
        }
        if (folder.startsWith("windows")) {
            removeOld();
        }
        Path directory = Files.createTempDirectory(BEGIN + ProcessHandle.current().pid() + "-");
        Bundled copy = new Bundled(directory, directory.resolve(name));
        try {
            Files.write(copy.file, library);
            String expected = new String(stated, StandardCharsets.US_ASCII).trim();
            if (!hash(Files.readAllBytes(copy.file)).equals(expected)) {
                throw new IOException(copy.file + " isn't what the jar contains, so the jar is damaged or the disk is full");
            }
            return copy;
        } catch (IOException | RuntimeException failed) {
            copy.close();
            throw failed;
        }
    }

    private static byte[] read(String resource) throws IOException {
        try (InputStream stream = Bundled.class.getResourceAsStream(resource)) {
            return stream == null ? null : stream.readAllBytes();
        }
    }

    private static String hash(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every Java platform has SHA-256", impossible);
        }
    }

    /** Removes the file. Where the system keeps it until the process ends, a later process does. */
    @Override
    public void close() {
        remove(directory);
    }

    /** Removes what processes that have ended left in the user's own directory for temporary files. */
    private static void removeOld() {
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        try (DirectoryStream<Path> left = Files.newDirectoryStream(temporary, BEGIN + "*")) {
            for (Path directory : left) {
                String pid = directory.getFileName().toString().substring(BEGIN.length()).split("-")[0];
                if (pid.matches("[0-9]{1,18}") && ProcessHandle.of(Long.parseLong(pid)).isEmpty()) {
                    remove(directory);
                }
            }
        } catch (IOException | RuntimeException unreadable) {
            // Another user's files, or none: nothing depends on it.
        }
    }

    private static void remove(Path directory) {
        try {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*oversleep*")) {
                for (Path file : files) {
                    Files.deleteIfExists(file);
                }
            }
            Files.deleteIfExists(directory);
        } catch (IOException inUse) {
            // Windows: the library is loaded.
        }
    }
}
