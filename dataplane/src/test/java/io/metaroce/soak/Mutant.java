// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.OperatorInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A deliberate fault: one method of the transport, rewritten as its class is loaded. Production code knows nothing of it.
 *
 * @param seed the first one to try, where none of the first scenarios shows it; else 0
 * @param type simple name of the class, in {@code io.metaroce.transport} unless it has a package
 */
record Mutant(String name, String type, String method, Change change, long seed) {
    Mutant(String name, String type, String method, Change change) {
        this(name, type, method, change, 0);
    }


    /** Rewrites code; {@link #hits} counts how often there was something to rewrite. */
    abstract static class Change {
        int hits;
        int seen;

        /** Before the method is read. */
        void start() {
        }

        abstract void rewrite(CodeBuilder to, CodeElement e);
    }

    String className() {
        return type.contains(".") ? "io.metaroce." + type : "io.metaroce.transport." + type;
    }

    byte[] rewrite(byte[] original) {
        // Code that is never reached any more may not have names of variables.
        ClassFile file = ClassFile.of(ClassFile.DebugElementsOption.DROP_DEBUG);
        change.hits = 0;
        change.seen = 0;
        change.start();
        byte[] result = file.transformClass(file.parse(original), ClassTransform.transformingMethodBodies(
                m -> m.methodName().stringValue().equals(method), (CodeTransform) change::rewrite));
        if (change.hits == 0) {
            throw new IllegalStateException("mutant \"" + name + "\" changes nothing: " + type + "." + method + " is not as it was");
        }
        return result;
    }

    // ---- kinds of changes ----

    private static Change at(Predicate<CodeElement> where, BiConsumer<CodeBuilder, CodeElement> what) {
        return new Change() {
            @Override
            void rewrite(CodeBuilder to, CodeElement e) {
                if (where.test(e)) {
                    hits++;
                    what.accept(to, e);
                } else {
                    to.with(e);
                }
            }
        };
    }

    private static boolean calls(CodeElement e, String called) {
        return e instanceof InvokeInstruction i
                && (simple(i.owner().asInternalName()) + "." + i.name().stringValue()).equals(called);
    }

    private static String simple(String internal) {
        return internal.substring(internal.lastIndexOf('/') + 1);
    }

    /** The call is left out; if it has a value, that is {@code value}. */
    static Change callIs(String called, long value) {
        return at(e -> calls(e, called), (to, e) -> {
            InvokeInstruction i = (InvokeInstruction) e;
            drop(to, i);
            constant(to, i.typeSymbol().returnType(), value);
        });
    }

    /** The call is made, and its value changed by what {@code then} appends. */
    static Change callGives(String called, Consumer<CodeBuilder> then) {
        return at(e -> calls(e, called), (to, e) -> {
            to.with(e);
            then.accept(to);
        });
    }

    /** Before the call its last argument, an int, is changed. */
    static Change lastArgument(String called, Consumer<CodeBuilder> before) {
        return at(e -> calls(e, called), (to, e) -> {
            before.accept(to);
            to.with(e);
        });
    }

    /** The method does nothing and returns {@code value}. */
    static Change returns(long value, ClassDesc type) {
        return new Change() {
            @Override
            void rewrite(CodeBuilder to, CodeElement e) {
                if (hits++ == 0) {
                    constant(to, type, value);
                    to.return_(TypeKind.from(type));
                    // What follows is never reached, but must still be well formed.
                }
                to.with(e);
            }
        };
    }

    /**
     * The {@code skip}-th conditional jump, from 0, behind the {@code occurrence}-th call of this name, from 0, is always taken or never:
     * found again wherever the code around it goes.
     */
    static Change jumpAfter(String called, int occurrence, int skip, boolean taken) {
        return new Change() {
            private int calls;

            @Override
            void start() {
                calls = 0;
            }

            @Override
            void rewrite(CodeBuilder to, CodeElement e) {
                if (calls(e, called)) {
                    calls++;
                }
                if (calls > occurrence && e instanceof BranchInstruction b && isConditional(b) && seen++ == skip) {
                    hits++;
                    switch (b.opcode()) {
                        case IF_ICMPEQ, IF_ICMPNE, IF_ICMPLT, IF_ICMPGE, IF_ICMPGT, IF_ICMPLE -> to.pop2();
                        default -> to.pop();
                    }
                    if (taken) {
                        to.goto_(b.target());
                    }
                } else {
                    to.with(e);
                }
            }
        };
    }

    /** Reading the field of this name gives {@code value}. */
    static Change fieldIs(String field, int value) {
        return at(e -> e instanceof FieldInstruction f && f.opcode() == java.lang.classfile.Opcode.GETFIELD && named(f, field), (to, e) -> {
            to.pop();
            to.loadConstant(value);
        });
    }

    /** Another static field of the same owner and type is read instead. */
    static Change staticFor(String field, String other) {
        return at(e -> e instanceof FieldInstruction f && f.opcode() == java.lang.classfile.Opcode.GETSTATIC && named(f, field), (to, e) -> {
            FieldInstruction f = (FieldInstruction) e;
            to.getstatic(f.owner().asSymbol(), other, f.typeSymbol());
        });
    }

    /** What is written to the field of this name, an int, is lost. */
    static Change notStored(String field) {
        return at(e -> e instanceof FieldInstruction f && f.opcode() == java.lang.classfile.Opcode.PUTFIELD && named(f, field), (to, e) -> to.pop2());
    }

    /** Another field of the same owner and type is read instead. */
    static Change fieldFor(String field, String other) {
        return at(e -> e instanceof FieldInstruction f && f.opcode() == java.lang.classfile.Opcode.GETFIELD && named(f, field), (to, e) -> {
            FieldInstruction f = (FieldInstruction) e;
            to.getfield(f.owner().asSymbol(), other, f.typeSymbol());
        });
    }

    private static boolean named(FieldInstruction f, String field) {
        return (simple(f.owner().asInternalName()) + "." + f.name().stringValue()).equals(field);
    }

    /** Division of longs leaves the dividend as it is. */
    static Change noDivision() {
        return at(e -> e instanceof OperatorInstruction o && o.opcode() == java.lang.classfile.Opcode.LDIV, (to, e) -> to.pop2());
    }

    private static boolean isConditional(BranchInstruction b) {
        return b.opcode() != java.lang.classfile.Opcode.GOTO && b.opcode() != java.lang.classfile.Opcode.GOTO_W;
    }

    /** One constant takes the place of another, wherever it stands in the method. */
    static Change constant(int from, int value) {
        return at(e -> e instanceof ConstantInstruction c && c.constantValue() instanceof Integer i && i == from,
                (to, e) -> to.loadConstant(value));
    }

    private static void drop(CodeBuilder to, InvokeInstruction call) {
        MethodTypeDesc type = call.typeSymbol();
        for (int i = type.parameterCount() - 1; i >= 0; i--) {
            if (TypeKind.from(type.parameterType(i)).slotSize() == 2) {
                to.pop2();
            } else {
                to.pop();
            }
        }
        if (call.opcode() != java.lang.classfile.Opcode.INVOKESTATIC) {
            to.pop();
        }
    }

    private static void constant(CodeBuilder to, ClassDesc type, long value) {
        if (type.equals(ConstantDescs.CD_void)) {
            return;
        }
        if (type.equals(ConstantDescs.CD_long)) {
            to.loadConstant(value);
        } else {
            to.loadConstant((int) value);
        }
    }
}
