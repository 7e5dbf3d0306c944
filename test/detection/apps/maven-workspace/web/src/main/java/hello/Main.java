package hello;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Main {
  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(System.getenv("PORT"));
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
    server.createContext("/", exchange -> {
      byte[] page = Words.GREETING.getBytes();
      exchange.sendResponseHeaders(200, page.length);
      try (var body = exchange.getResponseBody()) {
        body.write(page);
      }
    });
    server.start();
  }
}
