/*
 * AppDump - fills a database and writes the heap of the process that holds it.
 *
 *     java -cp h2.jar:. AppDump OUT.hprof [ROWS [SEED]]
 *
 * H2 keeps its tables in memory: pages of a B-tree, rows, values, strings, two secondary indexes; what a real application leaves there, and nothing
 * of it arranged for us. Customers, orders and order lines stand 1 : 3 : 8; equal arguments give an equal database. bench/make_app_dump runs it.
 */
import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.math.BigDecimal;
import java.util.Random;

public final class AppDump {
    private static final int BATCH = 1000;
    private static final String[] CITIES = { "Lisboa", "Bergen", "Gdańsk", "Wien", "Osaka", "Puebla", "Windhoek", "Hobart" };
    private static final String[] STATES = { "open", "paid", "packed", "sent", "returned" };

    private interface Row { void fill(PreparedStatement s, int id) throws SQLException; }

    private static void insert(Connection c, String sql, int rows, Row row) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            for (int id = 1; id <= rows; id++) {
                row.fill(s, id);
                s.addBatch();
                if (id % BATCH == 0 || id == rows)
                    s.executeBatch();
            }
        }
    }

    private static String words(Random r, int least, int most) {
        StringBuilder b = new StringBuilder();
        for (int n = least + r.nextInt(most - least + 1); n > 0; n--)
            b.append((char) ('a' + r.nextInt(26))).append(n % 6 == 0 ? " " : "");
        return b.toString();
    }

    public static void main(String[] args) throws Exception {
        final String out = args[0];
        final int rows = args.length > 1 ? Integer.parseInt(args[1]) : 600_000;
        final Random r = new Random(args.length > 2 ? Long.parseLong(args[2]) : 1);
        final int customers = Math.max(1, rows / 12), orders = customers * 3, lines = customers * 8;
        Connection c = DriverManager.getConnection("jdbc:h2:mem:bench;DB_CLOSE_DELAY=-1");
        try (Statement s = c.createStatement()) {
            s.execute("create table customer(id int primary key, name varchar, mail varchar, city varchar, since timestamp)");
            s.execute("create table orders(id int primary key, customer int, placed timestamp, state varchar, total decimal(12,2), note varchar)");
            s.execute("create table line(id int primary key, ord int, product int, quantity int, price decimal(10,2))");
            s.execute("create index by_customer on orders(customer)");
            s.execute("create index by_order on line(ord)");
        }
        insert(c, "insert into customer values(?,?,?,?,?)", customers, (s, id) -> {
            s.setInt(1, id);
            s.setString(2, words(r, 6, 20));
            s.setString(3, words(r, 5, 9).trim() + id + "@example.org");
            s.setString(4, CITIES[r.nextInt(CITIES.length)]);
            s.setTimestamp(5, new Timestamp(1_500_000_000_000L + r.nextInt(1 << 30) * 100L));
        });
        insert(c, "insert into orders values(?,?,?,?,?,?)", orders, (s, id) -> {
            s.setInt(1, id);
            s.setInt(2, 1 + r.nextInt(customers));
            s.setTimestamp(3, new Timestamp(1_600_000_000_000L + r.nextInt(1 << 30) * 90L));
            s.setString(4, STATES[r.nextInt(STATES.length)]);
            s.setBigDecimal(5, BigDecimal.valueOf(r.nextInt(10_000_000), 2));
            s.setString(6, r.nextInt(4) == 0 ? words(r, 20, 90) : null);
        });
        insert(c, "insert into line values(?,?,?,?,?)", lines, (s, id) -> {
            s.setInt(1, id);
            s.setInt(2, 1 + r.nextInt(orders));
            s.setInt(3, (int) Math.min(50_000, 50 + Math.abs(r.nextGaussian()) * 9000)); /* some products sell more than others */
            s.setInt(4, 1 + r.nextInt(9));
            s.setBigDecimal(5, BigDecimal.valueOf(r.nextInt(100_000), 2));
        });
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(out, true);
        c.close();
    }
}
