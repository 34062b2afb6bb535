/*
 * Bookshop.java - the program whose heap is examples/bookshop.hprof.gz: a small shop with one mistake.
 *
 * Visitors' carts are remembered in SessionCache and forgotten when a visitor signs out. Most visitors just leave, so the cache
 * keeps their sessions for ever, and with them the pictures of everything they looked at. `heapdex dominators` shows the cache at the top.
 *
 * It prints "ready" and waits until its input ends: make-bookshop takes the dump then.
 */
package bookshop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.WeakHashMap;

public final class Bookshop {
    static final class Author {
        final String name;
        Author(String name) { this.name = name; }
    }

    static final class Book {
        final String title;
        final Author author;
        final int cents;
        Book(String title, Author author, int cents) { this.title = title; this.author = author; this.cents = cents; }
    }

    static final class Order {
        final Customer customer;
        final List<Book> books = new ArrayList<>();
        Order next; /* of the day, newest first */
        Order(Customer customer) { this.customer = customer; }
    }

    static final class Customer {
        final String name;
        final List<Order> orders = new ArrayList<>();
        Customer(String name) { this.name = name; }
    }

    /** What a visitor looked at. */
    static final class Session {
        final String id;
        final Customer visitor; /* null until signed in */
        final List<byte[]> pictures = new ArrayList<>();
        Session(String id, Customer visitor) { this.id = id; this.visitor = visitor; }
    }

    /** Meant to shrink when visitors sign out; they do not. */
    static final class SessionCache {
        final Map<String, Session> sessions = new HashMap<>();
        void enter(Session s) { sessions.put(s.id, s); }
        void signOut(String id) { sessions.remove(id); }
    }

    /** Where the clerk sees who is in the shop. */
    static final class Desk {
        final SessionCache visitors;
        Desk(SessionCache visitors) { this.visitors = visitors; }
    }

    static final SessionCache SESSIONS = new SessionCache();
    final Map<String, Book> catalogue = new HashMap<>();
    final List<Customer> customers = new ArrayList<>();
    final Map<Book, String> recommendations = new WeakHashMap<>();
    Order today;

    void open(Random random) {
        String[] first = { "Ada", "Emmy", "Sofia", "Mary", "Rosa", "Lise", "Grace", "Hedy" };
        String[] last = { "Noether", "Lovelace", "Germain", "Anning", "Meitner", "Hopper", "Lamarr", "Kovalevskaya" };
        List<Author> authors = new ArrayList<>();
        for (String f : first)
            for (String l : last)
                authors.add(new Author(f + " " + l));
        String[] words = { "Garden", "Engine", "River", "Number", "Winter", "Harbour", "Letter", "Comet" };
        for (int i = 0; i < 600; i++) {
            String title = "The " + words[i % 8] + " and the " + words[i / 8 % 8] + ", volume " + (i / 64 + 1);
            Book book = new Book(title, authors.get(random.nextInt(authors.size())), 500 + random.nextInt(4000));
            catalogue.put(title, book);
            if (i % 50 == 0)
                recommendations.put(book, "staff pick " + i);
        }
        for (int i = 0; i < 200; i++)
            customers.add(new Customer(first[random.nextInt(8)] + " " + last[random.nextInt(8)] + " " + i));
    }

    void trade(Random random) {
        List<Book> books = new ArrayList<>(catalogue.values());
        for (int i = 0; i < 900; i++) {
            Order order = new Order(customers.get(random.nextInt(customers.size())));
            for (int n = 1 + random.nextInt(4); n > 0; n--)
                order.books.add(books.get(random.nextInt(books.size())));
            order.customer.orders.add(order);
            order.next = today;
            today = order;
        }
        for (int i = 0; i < 300; i++) {
            Session s = new Session("session-" + Integer.toHexString(random.nextInt()), i % 3 == 0 ? customers.get(i % 200) : null);
            for (int n = random.nextInt(6); n >= 0; n--)
                s.pictures.add(new byte[2048]);
            SESSIONS.enter(s);
            if (i % 10 == 0)
                SESSIONS.signOut(s.id);
        }
    }

    public static void main(String[] args) throws Exception {
        Random random = new Random(1789); /* the same shop every time */
        Bookshop shop = new Bookshop();
        shop.open(random);
        shop.trade(random);
        Thread clerk = new Thread(() -> {
            Order first = shop.today;
            Desk desk = new Desk(SESSIONS);
            synchronized (shop) {
                try {
                    shop.wait();
                } catch (InterruptedException e) {
                    System.out.println("closing with an order of " + first.customer.name + " and " + desk.visitors.sessions.size() + " visitors");
                }
            }
        }, "clerk");
        clerk.setDaemon(true);
        clerk.start();
        while (clerk.getState() != Thread.State.WAITING)
            Thread.sleep(5);
        System.out.println("ready");
        System.in.read();
        System.out.println(shop.customers.size() + " customers");
    }
}
