import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Calls a torqued server with CBOR bodies, by java.net.http alone; threads may share one. Doubles cross as their eight bytes, so
 * no bit is lost. A bearer token is taken from the environment variable TORQUED_TOKEN.
 *
 * <p>Requests hold double[] (one state), double[][] (a batch), Number, Boolean, String, List and Map. Answers hold an Array for
 * numbers, else Double, Boolean, String, List and Map.
 */
public final class Torqued {
    /** Numbers row by row: of one state with shape {n}, of a batch with {rows, n}. */
    public record Array(int[] shape, double[] numbers) {
        public double[] row(int index) {
            int size = numbers.length / shape[0];
            return Arrays.copyOfRange(numbers, index * size, (index + 1) * size);
        }
    }

    /** An answer with an error status; the message is the problem document, JSON with code, pointer, row and detail. */
    @SuppressWarnings("serial")
    public static final class Problem extends IOException {
        public final int status;

        Problem(int status, String document) {
            super(status + " " + document);
            this.status = status;
        }
    }

    private final String url;
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** url: such as http://127.0.0.1:8088 */
    public Torqued(String url) {
        this.url = url;
    }

    /** Posts the request to an operation, and gives the members of the answer. */
    @SuppressWarnings("unchecked")
    public Map<String, Object> evaluate(String model, String operation, Map<String, ?> request)
            throws IOException, InterruptedException {
        var body = new ByteArrayOutputStream();
        encode(request, body);
        var builder = HttpRequest.newBuilder(URI.create(url + "/v1/models/" + model + "/" + operation))
            .header("Content-Type", "application/cbor").header("Accept", "application/cbor; arrays=multidimensional")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray()));
        String token = System.getenv("TORQUED_TOKEN");
        if (token != null) builder.header("Authorization", "Bearer " + token);
        var reply = client.send(builder.build(), HttpResponse.BodyHandlers.ofByteArray());
        if (reply.statusCode() != 200) throw new Problem(reply.statusCode(), new String(reply.body(), StandardCharsets.UTF_8));
        return (Map<String, Object>) decode(ByteBuffer.wrap(reply.body()));
    }

    private static void head(int major, long value, ByteArrayOutputStream to) {
        if (value < 24) {
            to.write(major << 5 | (int) value);
        } else {
            to.write(major << 5 | 27);
            to.writeBytes(ByteBuffer.allocate(8).putLong(value).array());
        }
    }

    /** Tag 86: little-endian doubles. */
    private static void doubles(double[][] rows, ByteArrayOutputStream to) {
        var bytes = ByteBuffer.allocate(8 * Arrays.stream(rows).mapToInt(row -> row.length).sum()).order(ByteOrder.LITTLE_ENDIAN);
        for (double[] row : rows) for (double number : row) bytes.putDouble(number);
        head(6, 86, to);
        head(2, bytes.capacity(), to);
        to.writeBytes(bytes.array());
    }

    private static void encode(Object value, ByteArrayOutputStream to) {
        if (value instanceof double[] state) {
            doubles(new double[][] {state}, to);
        } else if (value instanceof double[][] rows) { // tag 40: [shape, numbers]
            head(6, 40, to);
            head(4, 2, to);
            encode(List.of(rows.length, rows[0].length), to);
            doubles(rows, to);
        } else if (value instanceof Map<?, ?> members) {
            head(5, members.size(), to);
            members.forEach((name, member) -> { encode(name, to); encode(member, to); });
        } else if (value instanceof List<?> entries) {
            head(4, entries.size(), to);
            entries.forEach(entry -> encode(entry, to));
        } else if (value instanceof String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            head(3, bytes.length, to);
            to.writeBytes(bytes);
        } else if (value instanceof Boolean truth) {
            to.write(truth ? 0xf5 : 0xf4);
        } else if (value instanceof Integer whole && whole >= 0) {
            head(0, whole, to);
        } else if (value instanceof Number number) {
            to.write(0xfb);
            to.writeBytes(ByteBuffer.allocate(8).putDouble(number.doubleValue()).array());
        } else {
            throw new IllegalArgumentException("no part of a request: " + value);
        }
    }

    /** Decodes what a server sends: lengths are stated, numbers are integers or 64-bit floats. */
    private static Object decode(ByteBuffer from) {
        int first = from.get() & 0xff, major = first >> 5, low = first & 31;
        long size = low < 24 ? low : 0;
        for (int i = 0; low >= 24 && i < 1 << (low - 24); i++) size = size << 8 | from.get() & 0xff;
        switch (major) {
            case 0: return (double) size;
            case 1: return -1.0 - size;
            case 2: {
                var numbers = new double[(int) size / 8]; // inside of tag 86
                from.slice(from.position(), (int) size).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(numbers);
                from.position(from.position() + (int) size);
                return new Array(new int[] {numbers.length}, numbers);
            }
            case 3: {
                var bytes = new byte[(int) size];
                from.get(bytes);
                return new String(bytes, StandardCharsets.UTF_8);
            }
            case 4: {
                var entries = new ArrayList<Object>();
                for (long i = 0; i < size; i++) entries.add(decode(from));
                return entries;
            }
            case 5: {
                var members = new LinkedHashMap<String, Object>();
                for (long i = 0; i < size; i++) members.put((String) decode(from), decode(from));
                return members;
            }
            case 6: {
                Object inner = decode(from);
                if (size != 40) return inner;
                var pair = (List<?>) inner;
                int[] shape = ((List<?>) pair.get(0)).stream().mapToInt(extent -> ((Double) extent).intValue()).toArray();
                return new Array(shape, ((Array) pair.get(1)).numbers());
            }
            default: return low == 27 ? (Object) Double.longBitsToDouble(size) : low == 20 || low == 21 ? (Object) (low == 21) : null;
        }
    }
}
