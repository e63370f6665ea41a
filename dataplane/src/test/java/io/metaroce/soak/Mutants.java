// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.CodeBuilder;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Locale;

/**
 * Checks the checker: the simulation against transports with one fault each. A class loader of its own loads the whole project again,
 * with one method rewritten, so a mutant and the real transport never meet.
 */
public final class Mutants {
    /** Scenarios that each mutant has to survive to count as not found. */
    static final int BUDGET = 400;
    private static final long FIRST_SEED = 1;

    static final List<Mutant> ALL = List.of(
            new Mutant("a wrong checksum is accepted", "Receiver", "isIntact", Mutant.returns(1, CD_boolean)),
            new Mutant("a duplicate within the window is new", "StreamReceiver", "onData", Mutant.callIs("SsnWindow.get", 0)),
            new Mutant("a duplicate behind the window is new", "StreamReceiver", "onData", Mutant.jump(3, true)),
            new Mutant("a lost packet counts as acknowledged", "PathSender", "onBlock", Mutant.callIs("PathBlock.word", -1)),
            new Mutant("a lost packet is not repeated", "PathSender", "onBlock", Mutant.callIs("EndpointState.append", 0)),
            new Mutant("the receiver acknowledges one more than it has", "PathReceiver", "mark",
                    Mutant.callGives("PathReceiver.runOfOnes", b -> b.iconst_1().iadd())),
            new Mutant("the floor is ignored", "PathReceiver", "enter", Mutant.jump(4, true)),
            new Mutant("a message completes before it has arrived", "StreamSender", "isDone", Mutant.returns(1, CD_boolean)),
            new Mutant("a message completes before its turn", "StreamSender", "isDone", Mutant.jump(1, false)),
            new Mutant("receives complete out of order", "ReceiveQueue", "complete",
                    Mutant.lastArgument("ReceiveQueue.entry", b -> b.iconst_1().ixor())),
            new Mutant("a connection record is not given back", "EndpointState", "giveConnection", Mutant.callIs("RecordPool.give", 0)),
            new Mutant("a packet record is not given back", "PathSender", "onBlock", Mutant.callIs("RecordPool.give", 0)),
            new Mutant("a window is not given back", "StreamReceiver", "release", Mutant.callIs("RecordPool.give", 0)),
            new Mutant("more than the line is shared", "ReceiverShare", "share", new Scale()),
            new Mutant("bounds are not checked", "memory.RegionTable", "check", Mutant.jump(7, true)),
            new Mutant("a NAK is ignored", "StreamReceiver", "onNak", Mutant.returns(0, CD_void)),
            new Mutant("the immediate is lost", "ReceiveQueue", "complete", Mutant.callIs("Opcode.hasImmediate", 0)),
            new Mutant("a Send is placed at its start", "StreamReceiver", "send", Mutant.callIs("DataHeader.offset", 0)),
            new Mutant("credit is not waited for", "StreamSender", "mayStart", Mutant.callIs("Opcode.consumesReceive", 0)),
            new Mutant("a credit request is not answered", "StreamReceiver", "onCreditRequest", Mutant.callIs("StreamTable.addNews", 0)),
            new Mutant("nobody looks for silent paths", "Health", "check", Mutant.returns(0, CD_void)),
            new Mutant("flushed work completes well", "StreamSender", "settle", Mutant.constant(100, 0)),
            new Mutant("what was out on a dead path is forgotten", "PathSender", "clear", Mutant.callIs("EndpointState.append", 0)),
            new Mutant("half-open connections stay", "Connections", "onTimer", Mutant.callIs("Connections.free", 0)),
            new Mutant("a Read is executed before its turn", "StreamReceiver", "act", new EarlyRead()));

    private Mutants() {
    }

    /** Twice the share. */
    private static final class Scale extends Mutant.Change {
        @Override
        void rewrite(CodeBuilder to, java.lang.classfile.CodeElement e) {
            if (e instanceof java.lang.classfile.instruction.ReturnInstruction) {
                hits++;
                to.loadConstant(2L).lmul();
            }
            to.with(e);
        }
    }

    /** After a request was taken, it is answered at once. */
    private static final class EarlyRead extends Mutant.Change {
        @Override
        void rewrite(CodeBuilder to, java.lang.classfile.CodeElement e) {
            // act(connection, stream, at, ssn): the first 2 is READ, what is to happen in order.
            if (hits == 0 && e instanceof java.lang.classfile.instruction.ConstantInstruction c && Integer.valueOf(2).equals(c.constantValue())) {
                hits++;
                var self = java.lang.constant.ClassDesc.of("io.metaroce.transport.StreamReceiver");
                var reads = java.lang.constant.ClassDesc.of("io.metaroce.transport.ReadResponder");
                to.aload(0).getfield(self, "reads", reads).lload(1).lload(3).invokevirtual(reads, "due",
                        java.lang.constant.MethodTypeDesc.of(CD_int, CD_long, CD_long)).pop();
                to.loadConstant(0);
            } else {
                to.with(e);
            }
        }
    }

    /** All of the project anew, with one class changed. */
    private static final class Loader extends ClassLoader {
        private final Mutant mutant;

        Loader(Mutant mutant) {
            super(Mutants.class.getClassLoader());
            this.mutant = mutant;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("io.metaroce.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = in.readAllBytes();
                if (name.equals(mutant.className())) {
                    bytes = mutant.rewrite(bytes);
                }
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /** What became of a mutant: the seed that found it, or -1, and how. */
    record Verdict(Mutant mutant, long seed, long runs, String how) {
        @Override
        public String toString() {
            return seed < 0 ? String.format(Locale.ROOT, "SURVIVED  %-50s %d scenarios", mutant.name(), runs)
                    : String.format(Locale.ROOT, "found     %-50s seed %-5d %s", mutant.name(), seed, how);
        }
    }

    static Verdict hunt(Mutant mutant, int budget) {
        Method probe;
        try {
            Loader loader = new Loader(mutant);
            loader.setDefaultAssertionStatus(true);
            probe = Class.forName("io.metaroce.soak.Mutants", true, loader).getDeclaredMethod("probe", long.class);
            probe.setAccessible(true);
            for (int i = 0; i < budget; i++) {
                String how = (String) probe.invoke(null, FIRST_SEED + i);
                if (how != null) {
                    return new Verdict(mutant, FIRST_SEED + i, i + 1, how);
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("mutant \"" + mutant.name() + "\" does not run", e);
        }
        return new Verdict(mutant, -1, budget, "");
    }

    /** Called in the mutant's own world. */
    static String probe(long seed) {
        Throwable t = Soak.failure(Profile.of(seed));
        if (t == null) {
            return null;
        }
        if (t instanceof LinkageError) {
            throw (LinkageError) t;
        }
        String text = String.valueOf(t.getMessage());
        return t.getClass().getSimpleName() + ": " + text.substring(0, Math.min(110, text.length()));
    }

    public static void main(String[] arguments) {
        int budget = arguments.length == 2 && arguments[0].equals("--runs") ? Integer.parseInt(arguments[1]) : BUDGET;
        int survivors = 0;
        for (Mutant m : ALL) {
            Verdict v = hunt(m, budget);
            System.out.println(v);
            survivors += v.seed < 0 ? 1 : 0;
        }
        System.out.printf(Locale.ROOT, "%d of %d mutants found%n", ALL.size() - survivors, ALL.size());
        System.exit(survivors == 0 ? 0 : 1);
    }
}
