package hello;

public class Words {
  public static final String GREETING = "Hello, world";
}
