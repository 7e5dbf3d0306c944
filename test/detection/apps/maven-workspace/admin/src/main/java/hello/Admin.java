package hello;

public class Admin extends NotThere {}
