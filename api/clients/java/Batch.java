import java.util.Map;

/** Writes the torques of a Panda along a motion of 10 000 states as CSV. */
public final class Batch {
    static final int ROWS = 10000;
    static final double[] FROM = {0, -0.5, 0, -2, 0, 1.5, 0.5}, TO = {1, 0.5, -0.5, -1, 0.5, 2, -0.5}; // rad

    public static void main(String[] arguments) throws Exception {
        double[][] q = new double[ROWS][7], qd = new double[ROWS][7], qdd = new double[ROWS][7];
        for (int i = 0; i < ROWS; i++) { // from rest to rest in 2 s, the jerk as small as possible
            double s = i / 9999.0;
            for (int j = 0; j < 7; j++) {
                double way = TO[j] - FROM[j];
                q[i][j] = FROM[j] + way * (s * s * s * (10 + s * (6 * s - 15)));
                qd[i][j] = way * (30 * s * s * (1 - s) * (1 - s) / 2);
                qdd[i][j] = way * (60 * s * (1 - s) * (1 - 2 * s) / 4);
            }
        }
        var client = new Torqued(arguments.length > 0 ? arguments[0] : "http://127.0.0.1:8088");
        var answer = client.evaluate("panda", "inverse-dynamics", Map.of("q", q, "qd", qd, "qdd", qdd));
        var tau = (Torqued.Array) answer.get("tau"); // N m
        var csv = new StringBuilder("t,tau1,tau2,tau3,tau4,tau5,tau6,tau7\n");
        for (int i = 0; i < ROWS; i++) {
            csv.append(i / 9999.0 * 2);
            for (double torque : tau.row(i)) csv.append(',').append(torque);
            csv.append('\n');
        }
        System.out.print(csv);
    }
}
