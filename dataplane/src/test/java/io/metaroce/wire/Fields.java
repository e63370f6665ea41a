// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The fields of a header class, found by their accessors: a getter {@code name(long)} with a setter of the same name. */
final class Fields {
    static final List<Class<?>> HEADERS = List.of(Prefix.class, DataHeader.class, AckHeader.class, PathBlock.class, ControlBlock.class, ProbeHeader.class,
            ParityHeader.class, ParityEntry.class, CloseHeader.class, ParkHeader.class, PlaneHeader.class, InitHeader.class, ChallengeHeader.class,
            AcceptHeader.class, RefuseHeader.class, ResetHeader.class);
    /** What stands behind a header, and so has no prefix. */
    static final Set<Class<?>> BLOCKS = Set.of(PathBlock.class, ControlBlock.class, ParityEntry.class);
    /** Fields of a Data packet that a Parity packet has too. */
    private static final Set<String> OF_PARITY = Set.of("opcode", "stream", "ssn", "msn", "remoteAddress", "remoteKey", "offset", "immReceiveIndex",
            "messageLength", "immediate");

    record Accessor(Class<?> header, String name, int offset, Method getter, Method setter) {
        long get(long at) {
            try {
                return ((Number) getter.invoke(null, at)).longValue();
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(this.toString(), e);
            }
        }

        void set(long at, long value) {
            try {
                if (setter.getParameterTypes()[1] == int.class) {
                    setter.invoke(null, at, (int) value);
                } else {
                    setter.invoke(null, at, value);
                }
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(this.toString(), e);
            }
        }
    }

    private Fields() {
    }

    /** Those of a datagram's header include the prefix that they all have. */
    static List<Accessor> of(Class<?> header) {
        List<Accessor> found = declaredBy(header);
        if (header != Prefix.class && !BLOCKS.contains(header)) {
            found.addAll(declaredBy(Prefix.class));
        }
        if (header == ParityHeader.class) {
            declaredBy(DataHeader.class).stream().filter(f -> OF_PARITY.contains(f.name)).forEach(found::add);
        }
        return found;
    }

    private static List<Accessor> declaredBy(Class<?> header) {
        List<Accessor> found = new ArrayList<>();
        for (Method setter : header.getDeclaredMethods()) {
            Class<?>[] types = setter.getParameterTypes();
            if (Modifier.isPublic(setter.getModifiers()) && setter.getReturnType() == void.class && types.length == 2 && types[0] == long.class) {
                found.add(accessor(header, setter));
            }
        }
        return found;
    }

    static Accessor of(Class<?> header, String name) {
        return of(header).stream().filter(a -> a.name.equals(name)).findFirst()
                .orElseThrow(() -> new AssertionError(header.getSimpleName() + " has no field " + name));
    }

    private static Accessor accessor(Class<?> header, Method setter) {
        try {
            String constant = setter.getName().replaceAll("([A-Z])", "_$1").toUpperCase(java.util.Locale.ROOT);
            Field offset = header.getDeclaredField(constant);
            return new Accessor(header, setter.getName(), offset.getInt(null), header.getDeclaredMethod(setter.getName(), long.class), setter);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(header.getSimpleName() + "." + setter.getName(), e);
        }
    }

    static Class<?> headerOf(int type) {
        return switch (type) {
            case Type.DATA -> DataHeader.class;
            case Type.ACK -> AckHeader.class;
            case Type.PROBE -> ProbeHeader.class;
            case Type.PARITY -> ParityHeader.class;
            case Type.CLOSE, Type.CLOSE_ACK -> CloseHeader.class;
            case Type.PARK, Type.PARK_ACK -> ParkHeader.class;
            case Type.PLANE -> PlaneHeader.class;
            case Type.INIT -> InitHeader.class;
            case Type.CHALLENGE -> ChallengeHeader.class;
            case Type.ACCEPT -> AcceptHeader.class;
            case Type.REFUSE -> RefuseHeader.class;
            case Type.RESET -> ResetHeader.class;
            default -> throw new AssertionError(Type.name(type));
        };
    }

    static int lengthOf(Class<?> header) {
        try {
            return header.getDeclaredField("LENGTH").getInt(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(header.getSimpleName(), e);
        }
    }
}
