// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A strict little JSON reader for tests: anything that is not JSON throws. */
public final class Json {
    private final String text;
    private int at;
    private Object root;

    private Json(String text) {
        this.text = text;
    }

    public static Json parse(String text) {
        Json json = new Json(text);
        json.root = json.value();
        if (json.at != text.length()) {
            throw json.wrong("something behind the value");
        }
        return json;
    }

    /** The value at a path such as {@code paths.0.state}: String, Double, Boolean, Map or List. */
    public Object at(String path) {
        Object o = root;
        for (String step : path.split("\\.")) {
            o = o instanceof List<?> list ? list.get(Integer.parseInt(step)) : ((Map<?, ?>) o).get(step);
            if (o == null) {
                throw new IllegalArgumentException("no " + path + " in " + text);
            }
        }
        return o;
    }

    public boolean has(String field) {
        return ((Map<?, ?>) root).containsKey(field);
    }

    public int size(String path) {
        return ((List<?>) at(path)).size();
    }

    private Object value() {
        return switch (text.charAt(at)) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            default -> number();
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        at++;
        while (text.charAt(at) != '}') {
            if (!map.isEmpty()) {
                expect(',');
            }
            String key = string();
            expect(':');
            if (map.put(key, value()) != null) {
                throw wrong("a second " + key);
            }
        }
        at++;
        return map;
    }

    private List<Object> array() {
        List<Object> list = new ArrayList<>();
        at++;
        while (text.charAt(at) != ']') {
            if (!list.isEmpty()) {
                expect(',');
            }
            list.add(value());
        }
        at++;
        return list;
    }

    private String string() {
        expect('"');
        StringBuilder b = new StringBuilder();
        for (char c; (c = text.charAt(at++)) != '"'; ) {
            if (c < 0x20) {
                throw wrong("a control character");
            }
            if (c == '\\') {
                c = text.charAt(at++);
                if (c == 'u') {
                    c = (char) Integer.parseInt(text.substring(at, at += 4), 16);
                } else if (c != '"' && c != '\\') {
                    throw wrong("an escape");
                }
            }
            b.append(c);
        }
        return b.toString();
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong("a word");
        }
        at += word.length();
        return value;
    }

    private Double number() {
        int start = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return Double.valueOf(text.substring(start, at));
    }

    private void expect(char c) {
        if (text.charAt(at++) != c) {
            throw wrong("not a '" + c + "'");
        }
    }

    private IllegalArgumentException wrong(String what) {
        return new IllegalArgumentException(what + " at " + at + " in " + text);
    }
}
