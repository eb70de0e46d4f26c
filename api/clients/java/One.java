import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** Asks for the torques that move a Puma 560 as wanted. */
public final class One {
    public static void main(String[] arguments) throws Exception {
        var client = new Torqued(arguments.length > 0 ? arguments[0] : "http://127.0.0.1:8088");
        double[] q = {0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0}; // rad
        double[] rates = {1, 1, 1, 1, 1, 1}; // rad/s, rad/s^2
        var answer = client.evaluate("puma560", "inverse-dynamics", Map.of("q", q, "qd", rates, "qdd", rates));
        var tau = (Torqued.Array) answer.get("tau"); // N m
        System.out.println(Arrays.stream(tau.numbers()).mapToObj(Double::toString).collect(Collectors.joining(",")));
    }
}
