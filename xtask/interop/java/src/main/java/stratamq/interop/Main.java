package stratamq.interop;

/**
 * Runs one verb: {@code VERB name=value ...}. Exit code 0 = done, 3 = the deadline passed first, 1 = any other
 * failure.
 */
public final class Main {
    /** Exit code of a verb that stopped at its deadline; what it got until then is in its output file. */
    static final int DEADLINE_PASSED = 3;

    private Main() {
    }

    public static void main(String[] args) {
        int code;
        try {
            code = run(args);
        } catch (Throwable failure) {
            failure.printStackTrace();
            code = 1;
        }
        System.err.flush();
        // Ends every client of the program. Their own shutdown takes three seconds each: a verb calls it only where
        // it is part of the check.
        Runtime.getRuntime().halt(code);
    }

    private static int run(String[] args) throws Exception {
        if (args.length == 0) {
            throw new IllegalArgumentException("expected a verb, found no argument");
        }
        Arguments arguments = new Arguments(args);
        switch (args[0]) {
            case "topics":
                return TopicsVerb.run(arguments);
            case "produce":
                return ProduceVerb.run(arguments);
            case "consume":
                return ConsumeVerb.run(arguments);
            case "drain":
                return DrainVerb.run(arguments);
            case "features":
                return new FeaturesVerb(arguments).run();
            case "hammer":
                return HammerVerb.run(arguments);
            case "read-store":
                return ReadStoreVerb.run(arguments);
            case "transactions":
                return TransactionsVerb.run(arguments);
            default:
                throw new IllegalArgumentException("unknown verb " + args[0]);
        }
    }
}
