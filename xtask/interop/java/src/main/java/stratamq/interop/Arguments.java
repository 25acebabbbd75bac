package stratamq.interop;

import java.util.HashMap;
import java.util.Map;

/** The {@code name=value} arguments behind the verb. */
final class Arguments {
    private final Map<String, String> values = new HashMap<>();

    Arguments(String[] args) {
        for (int i = 1; i < args.length; i++) {
            int equals = args[i].indexOf('=');
            if (equals <= 0) {
                throw new IllegalArgumentException("expected name=value, found " + args[i]);
            }
            values.put(args[i].substring(0, equals), args[i].substring(equals + 1));
        }
    }

    String text(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("argument " + name + "= is missing");
        }
        return value;
    }

    String text(String name, String fallback) {
        return values.getOrDefault(name, fallback);
    }

    int number(String name, int fallback) {
        String value = values.get(name);
        return value == null ? fallback : Integer.parseInt(value);
    }

    boolean flag(String name) {
        return Boolean.parseBoolean(values.getOrDefault(name, "false"));
    }
}
