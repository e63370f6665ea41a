// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.OperatorInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Checks the checker: the simulation against transports with one fault each. A class loader of its own loads the whole project again,
 * with one method rewritten, so a mutant and the real transport never meet.
 */
public final class Mutants {
    /** Scenarios that each mutant has to survive to count as not found. */
    static final int BUDGET = 400;
    private static final long FIRST_SEED = 1;

    static final List<Mutant> ALL = List.of(
            // What arrived, what is lost, what is repeated.
            new Mutant("a wrong checksum is accepted", "Receiver", "isIntact", Mutant.returns(1, CD_boolean)),
            new Mutant("a duplicate within the window is new", "StreamReceiver", "onData", Mutant.callIs("SsnWindow.get", 0)),
            new Mutant("a duplicate behind the window is new", "StreamReceiver", "onData", Mutant.jumpAfter("DataHeader.ssn", 0, 0, true)),
            new Mutant("a lost packet counts as acknowledged", "PathSender", "onBlock", Mutant.callIs("PathBlock.word", -1)),
            new Mutant("a lost packet is not repeated", "PathSender", "onBlock", Mutant.callIs("EndpointState.append", 0)),
            new Mutant("the receiver acknowledges one more than it has", "PathReceiver", "mark",
                    Mutant.callGives("PathReceiver.runOfOnes", b -> b.iconst_1().iadd())),
            new Mutant("an acknowledgement repeats the blocks of another path", "AckSender", "entry", Mutant.returns(1, CD_int)),
            new Mutant("the floor is ignored", "PathReceiver", "enter", Mutant.callIs("PathReceiver.shift", 0)),
            new Mutant("a new route is not entered", "PathReceiver", "enter", Mutant.callIs("Serial.newerEpoch", 0)),
            new Mutant("a PSN is used twice", "PathSender", "sent", new SamePsn()),
            new Mutant("another route without a new epoch", "PathSender", "newRoute", Mutant.callIs("Slab.addInt", 0)),
            new Mutant("probes stay unanswered", "PathReceiver", "probe", Mutant.returns(0, CD_boolean)),
            new Mutant("a lost packet is made of whatever lies there", "ParityReceiver", "restore", Mutant.returns(1, CD_boolean)),
            new Mutant("Parity outlives the context it speaks of", "EndpointState", "forgetParities", Mutant.returns(0, CD_void)),
            new Mutant("any packet is taken for the one that was made", "StreamSender", "is", Mutant.returns(1, CD_boolean)),
            // Order, completion, credit.
            new Mutant("a message completes before it has arrived", "StreamSender", "isDone", Mutant.returns(1, CD_boolean)),
            new Mutant("a message completes before its turn", "StreamSender", "isDone", Mutant.jumpAfter("StreamSender.hasArrived", 0, 1, false)),
            new Mutant("receives complete out of order", "ReceiveQueue", "complete",
                    Mutant.lastArgument("ReceiveQueue.entry", b -> b.iconst_1().ixor())),
            new Mutant("a Send goes to another receive", "StreamReceiver", "send",
                    Mutant.lastArgument("ReceiveQueue.entry", b -> b.iconst_1().ixor())),
            new Mutant("the immediate is lost", "ReceiveQueue", "complete", Mutant.callIs("Opcode.hasImmediate", 0)),
            new Mutant("a Send is placed at its start", "StreamReceiver", "send", Mutant.callIs("DataHeader.offset", 0)),
            new Mutant("credit is not waited for", "StreamSender", "mayStart", Mutant.callIs("Opcode.consumesReceive", 0)),
            new Mutant("a receive too many is told", "AckSender", "news", Mutant.lastArgument("AckSender.control", b -> b.iconst_1().iadd())),
            new Mutant("a credit request is not answered", "StreamReceiver", "onCreditRequest", Mutant.callIs("StreamTable.addNews", 0)),
            new Mutant("flushed work completes well", "StreamSender", "settle", Mutant.constant(100, 0)),
            new Mutant("a fence holds nothing back", "Requests", "flags", Mutant.fieldIs("WorkRequest.fence", 0)),
            new Mutant("an unsignaled request completes", "Requests", "flags", Mutant.fieldIs("WorkRequest.unsignaled", 0)),
            new Mutant("nobody is solicited", "Requests", "flags", Mutant.fieldIs("WorkRequest.solicited", 0)),
            // Reads, atomics, memory.
            new Mutant("a Read is executed before its turn", "StreamReceiver", "act", new EarlyRead()),
            new Mutant("an atomic is answered, not executed", "ReadResponder", "execute", Mutant.callIs("Words.fetchAndAdd", 0)),
            new Mutant("an atomic is executed twice", "ReadResponder", "execute", new Twice()),
            new Mutant("a compare-and-swap does not compare", "ReadResponder", "execute", new NoCompare()),
            new Mutant("an invalidated key serves on", "StreamReceiver", "receive", Mutant.callIs("RegionTable.invalidate", 1)),
            new Mutant("bounds are not checked", "memory.RegionTable", "check", Mutant.jumpAfter("MemoryRegion.length", 1, 0, true)),
            new Mutant("rights are not checked", "memory.RegionTable", "check", Mutant.jumpAfter("MemoryRegion.access", 0, 0, true)),
            new Mutant("domains are not checked", "memory.RegionTable", "check", Mutant.jumpAfter("MemoryRegion.protectionDomain", 0, 0, true)),
            new Mutant("every fault has the same cause", "StreamReceiver", "causeOf", Mutant.returns(1, CD_int)),
            new Mutant("a NAK is ignored", "StreamReceiver", "onNak", Mutant.returns(0, CD_void)),
            // Windows and shares.
            new Mutant("twice the share is granted", "ReceiverShare", "share", new Scale()),
            new Mutant("each sender is granted the whole line", "ReceiverShare", "compute", Mutant.noDivision()),
            new Mutant("the receiver's buffer does not limit", "Windows", "window", new FirstMinKeepsFirst()),
            // Connections.
            new Mutant("an identifier is given out again", "EndpointState", "name",
                    // One of sixteen: with one only, whose connection is parked, the endpoint would look for another for ever.
                    Mutant.callGives("EndpointState.nextSecret", to -> to.loadConstant(0xf_0000L).land())),
            new Mutant("any cookie is good", "Handshake", "cookie", Mutant.returns(1, CD_long)),
            new Mutant("a refusal does not say when to try again", "Handshake", "refuse", Mutant.lastArgument("RefuseHeader.retryAfterMs", b -> b.pop2().lconst_0())),
            new Mutant("half-open connections stay", "Connections", "onTimer", Mutant.callIs("Connections.free", 0)),
            new Mutant("CLOSE is not repeated", "Connections", "retryClose", Mutant.returns(0, CD_void)),
            new Mutant("a lost peer is never given up", "Health", "onTimer", new NeverLost()),
            new Mutant("keepalives are not sent", "Health", "keepalive", Mutant.callIs("PathSender.wantProbe", 0)),
            new Mutant("a restarted peer is not told apart", "Receiver", "reset", Mutant.returns(0, CD_void)),
            // Paths and planes.
            new Mutant("nobody looks for silent paths", "Health", "check", Mutant.returns(0, CD_void)),
            new Mutant("what was out on a dead path is forgotten", "PathSender", "clear", Mutant.callIs("EndpointState.append", 0)),
            new Mutant("a dead path is not probed again", "Health", "retryRoute", Mutant.returns(0, CD_void)),
            // Records.
            new Mutant("a connection record is not given back", "EndpointState", "giveConnection", Mutant.callIs("RecordPool.give", 0)),
            new Mutant("a packet record is not given back", "PathSender", "onBlock", Mutant.callIs("RecordPool.give", 0)),
            new Mutant("a window is not given back", "StreamReceiver", "release", Mutant.callIs("RecordPool.give", 0)),
            // Own memory, ends of streams, receivers that are not ready.
            new Mutant("memory of a request is not looked up again", "LocalMemory", "isStillRegistered", Mutant.returns(1, CD_boolean)),
            new Mutant("memory of a receive is not looked up again", "LocalMemory", "isReceiveRegistered", Mutant.returns(1, CD_boolean)),
            new Mutant("an invalidation of one's own does nothing", "StreamSender", "settleLocal", Mutant.callIs("RegionTable.invalidate", 1)),
            new Mutant("memory registered anew keeps its key", "memory.RegionTable", "reregister", new SameKey()),
            new Mutant("the end of a stream is not heard", "StreamReceiver", "onReset", Mutant.returns(0, CD_void)),
            new Mutant("a message waits for a receive for ever", "StreamSender", "creditPauseEnded", Mutant.fieldIs("EndpointConfig.receiverNotReadyRetries", 7)),
            new Mutant("inline data is not copied", "LocalMemory", "copyInline", Mutant.callIs("Bytes.copy", 0)),
            new Mutant("segments have no end", "SegmentLists", "scatter", new FirstMinKeepsFirst()),
            // Shared receives.
            new Mutant("a shared receive is bound to the next stream, too", "SharedReceives", "bind", Mutant.notStored("SharedReceives$Queue.head")),
            new Mutant("shared receives do not come back", "SharedReceives", "release", Mutant.notStored("SharedReceives$Queue.free")),
            new Mutant("a dry queue does not serve those in line", "SharedReceives", "serveLine", Mutant.returns(0, CD_void)),
            new Mutant("nobody hears that receives run low", "SharedReceives", "watch", Mutant.returns(0, CD_void)),
            new Mutant("who waits for a completion is not woken", "CompletionQueue", "arm", Mutant.returns(0, CD_void)),
            // Parked connections.
            new Mutant("a connection parks while something is under way", "Parking", "isQuiet", Mutant.returns(1, CD_boolean)),
            new Mutant("what was out is forgotten when the peer has parked", "Parking", "orphan", Mutant.callIs("EndpointState.append", 0)),
            new Mutant("a parked connection is not known again", "Parking", "owner", Mutant.returns(0, CD_long)),
            new Mutant("nobody hears that the peer has parked", "Parking", "acknowledge", Mutant.returns(0, CD_void), 318),
            // Planes that change.
            new Mutant("a stated plane is used unasked", "Planes", "onState", new Unasked()),
            new Mutant("a plane that is gone is used on", "Planes", "leave", Mutant.returns(0, CD_void)),
            new Mutant("nobody states where a plane is", "Planes", "declare", Mutant.returns(0, CD_void)),
            // Encryption.
            new Mutant("keys change before the peer has confirmed", "Sealing", "seal", Mutant.fieldIs("Sealing$Session.confirmed", 1)),
            new Mutant("a number is used twice", "Sealing", "seal", Mutant.lastArgument("Slab.addInt", b -> b.pop().iconst_0())),
            new Mutant("numbers begin again when an encrypted connection is parked", "Sealing", "park", Mutant.callIs("Slab.getInt", 0)),
            // What was wrong once.
            new Mutant("two messages of a stream end with a cause", "StreamSender", "fail", Mutant.constant(-1, -7)),
            new Mutant("a Read is refused while the peer is being called", "Parking", "unpark", Mutant.staticFor("ConnectionRecord.PEER_MAX_READS", "SERVICE")),
            new Mutant("a Write without bytes needs a key", "StreamReceiver", "write", Mutant.callIs("DataHeader.messageLength", 1)),
            new Mutant("a stream that had no room takes packets later", "StreamReceiver", "isUnknownToPeer", Mutant.returns(0, CD_boolean), 1136),
            new Mutant("an acknowledgement goes with Data of any length", "Transmitter", "roomAhead", Mutant.returns(1000, CD_int)),
            new Mutant("Data behind an acknowledgement is not looked at", "EndpointState", "isIntact", Mutant.callIs("AckHeader.isFollowed", 0)),
            new Mutant("responses take the records of requests", "ReadResponder", "answer", Mutant.fieldFor("EndpointState.responses", "work")));

    private Mutants() {
    }

    /** Twice the share. */
    private static final class Scale extends Mutant.Change {
        @Override
        void rewrite(CodeBuilder to, java.lang.classfile.CodeElement e) {
            if (e instanceof ReturnInstruction) {
                hits++;
                to.loadConstant(2L).lmul();
            }
            to.with(e);
        }
    }

    /** The first minimum of two numbers is the first of them. */
    private static final class FirstMinKeepsFirst extends Mutant.Change {
        @Override
        void rewrite(CodeBuilder to, java.lang.classfile.CodeElement e) {
            if (hits == 0 && e instanceof InvokeInstruction i && i.name().equalsString("min")) {
                hits++;
                to.pop();
            } else {
                to.with(e);
            }
        }
    }

    /** The next PSN stays what it is; the packet's own is written as ever. */
    private static final class SamePsn extends Mutant.Change {
        @Override
        void rewrite(CodeBuilder to, java.lang.classfile.CodeElement e) {
            // putInt(path + NEXT_PSN, psn + 1): the first sum of ints.
            if (hits == 0 && e instanceof OperatorInstruction o && o.opcode() == java.lang.classfile.Opcode.IADD) {
                hits++;
                to.pop();
            } else {
                to.with(e);
            }
        }
    }

    /** Adds once more, and returns what the second addition found. */
    private static final class Twice extends Mutant.Change {
        @Override
        void rewrite(CodeBuilder to, java.lang.classfile.CodeElement e) {
            if (e instanceof InvokeInstruction i && i.name().equalsString("fetchAndAdd")) {
                hits++;
                // address, operand -> address, operand, address, operand
                int address = 20;
                to.lstore(address).lstore(address + 2).lload(address + 2).lload(address).with(e);
                to.pop2().lload(address + 2).lload(address).with(e);
            } else {
                to.with(e);
            }
        }
    }

    /** Writes the new value whatever the word is, and says that it was the one to compare with. */
    private static final class NoCompare extends Mutant.Change {
        @Override
        void rewrite(CodeBuilder to, java.lang.classfile.CodeElement e) {
            if (e instanceof InvokeInstruction i && i.name().equalsString("compareAndSwap")) {
                hits++;
                int at = 20;
                to.lstore(at).lstore(at + 2).lload(at);
                to.invokestatic(i.owner().asSymbol(), "put", java.lang.constant.MethodTypeDesc.of(CD_void, CD_long, CD_long));
                to.lload(at + 2);
            } else {
                to.with(e);
            }
        }
    }

    /** The key that a region had is that of the one in its place. */
    private static final class SameKey extends Mutant.Change {
        @Override
        void rewrite(CodeBuilder to, java.lang.classfile.CodeElement e) {
            if (e instanceof InvokeInstruction i && i.owner().asInternalName().endsWith("KeySequence")) {
                hits++;
                var region = java.lang.constant.ClassDesc.of("io.metaroce.memory.MemoryRegion");
                to.pop2().aload(1).invokevirtual(region, "key", java.lang.constant.MethodTypeDesc.of(CD_int));
            } else {
                to.with(e);
            }
        }
    }

    /** Instead of being challenged, whoever is at the stated address is believed. */
    private static final class Unasked extends Mutant.Change {
        @Override
        void rewrite(CodeBuilder to, java.lang.classfile.CodeElement e) {
            // onState(connection, plane number, plane, plane it came on, at, now)
            if (e instanceof InvokeInstruction i && i.name().equalsString("wake")) {
                hits++;
                to.pop2().pop2().pop().aload(0).lload(1).iload(3).lload(4).iload(6).lload(9).invokevirtual(i.owner().asSymbol(), "take",
                        java.lang.constant.MethodTypeDesc.of(CD_void, CD_long, CD_int, CD_long, CD_int, CD_long));
            } else {
                to.with(e);
            }
        }
    }

    /** Whatever returns false, so that the peer counts as lost, returns true. */
    private static final class NeverLost extends Mutant.Change {
        @Override
        void rewrite(CodeBuilder to, java.lang.classfile.CodeElement e) {
            if (e instanceof ReturnInstruction) {
                hits++;
                to.pop().iconst_1();
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
            probe = Class.forName("io.metaroce.soak.Mutants", true, loader).getDeclaredMethod("probe", long.class, boolean.class);
            probe.setAccessible(true);
            for (int i = 0; i < budget; i++) {
                // What is rare to find begins where it was found.
                long seed = Math.max(mutant.seed(), FIRST_SEED) + i;
                String how = (String) probe.invoke(null, seed, false);
                if (how == null && mutant.seed() > 0) {
                    how = (String) probe.invoke(null, seed, true);
                }
                if (how != null) {
                    return new Verdict(mutant, seed, i + 1, how);
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("mutant \"" + mutant.name() + "\" does not run", e);
        }
        return new Verdict(mutant, -1, budget, "");
    }

    /** Called in the mutant's own world. {@code first}: with the faults of the first simulation only, in which some rare ones were found. */
    static String probe(long seed, boolean first) {
        Throwable t = Soak.failure(first ? Profile.of(seed).before(Fault.OWN_MEMORY) : Profile.of(seed));
        if (t == null) {
            return null;
        }
        if (t instanceof LinkageError) {
            throw (LinkageError) t;
        }
        String text = String.valueOf(t.getMessage());
        return t.getClass().getSimpleName() + ": " + text.substring(0, Math.min(110, text.length()));
    }

    /** Hunts all of them, on every core, and prints what became of each; returns those that survived or do not apply any more. */
    static List<String> huntAll(List<Mutant> all, int budget) throws InterruptedException {
        AtomicInteger next = new AtomicInteger();
        List<String> left = Collections.synchronizedList(new ArrayList<>());
        List<Thread> hunters = new ArrayList<>();
        for (int t = 0; t < Runtime.getRuntime().availableProcessors(); t++) {
            hunters.add(Thread.ofPlatform().start(() -> {
                for (int i = next.getAndIncrement(); i < all.size(); i = next.getAndIncrement()) {
                    String line;
                    try {
                        Verdict v = hunt(all.get(i), budget);
                        line = v.toString();
                        if (v.seed < 0) {
                            left.add(line);
                        }
                    } catch (RuntimeException | LinkageError e) {
                        line = "DID NOT APPLY  " + all.get(i).name() + ": " + (e.getCause() == null ? e : e.getCause());
                        left.add(line);
                    }
                    System.out.println(line);
                }
            }));
        }
        for (Thread h : hunters) {
            h.join();
        }
        System.out.printf(Locale.ROOT, "%d of %d mutants found%n", all.size() - left.size(), all.size());
        return left;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int budget = BUDGET;
        String part = "";
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            switch (arguments[i]) {
                case "--runs" -> budget = Integer.parseInt(arguments[i + 1]);
                case "--only" -> part = arguments[i + 1];
                default -> throw new IllegalArgumentException("unknown option " + arguments[i]);
            }
        }
        String only = part;
        System.exit(huntAll(ALL.stream().filter(m -> m.name().contains(only)).toList(), budget).isEmpty() ? 0 : 1);
    }
}
