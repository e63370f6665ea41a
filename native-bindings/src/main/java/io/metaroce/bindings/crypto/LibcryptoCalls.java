// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.crypto;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * OpenSSL's ciphers (libcrypto.so.3, EVP) as hot handles: pointers are plain addresses, nothing is allocated in Java.
 *
 * <p>Names, arguments and results are those of the manual pages {@code EVP_EncryptInit(3)}; 1 is success. All calls are bounded work in
 * user space, hence critical downcalls. A context belongs to one thread at a time. Nothing may be called unless {@link #missing} is null.
 */
public final class LibcryptoCalls {
    public static final String FILE_NAME = "libcrypto.so.3";
    public static final int EVP_CTRL_AEAD_GET_TAG = 0x10;
    public static final int EVP_CTRL_AEAD_SET_TAG = 0x11;

    /** Contexts may be in use by other threads while the process ends, so nothing is to be torn down then. */
    private static final long OPENSSL_INIT_NO_ATEXIT = 0x0008_0000L;
    private static final int OPENSSL_VERSION = 0;

    private static final SymbolLookup LIBRARY = open();
    private static final MethodHandle NEW = hot("EVP_CIPHER_CTX_new", JAVA_LONG);
    private static final MethodHandle FREE = hot("EVP_CIPHER_CTX_free", null, JAVA_LONG);
    private static final MethodHandle AES_256_GCM = hot("EVP_aes_256_gcm", JAVA_LONG);
    private static final MethodHandle ENCRYPT_INIT = hot("EVP_EncryptInit_ex", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle DECRYPT_INIT = hot("EVP_DecryptInit_ex", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle ENCRYPT = hot("EVP_EncryptUpdate", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle DECRYPT = hot("EVP_DecryptUpdate", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle ENCRYPT_FINAL = hot("EVP_EncryptFinal_ex", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle DECRYPT_FINAL = hot("EVP_DecryptFinal_ex", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle CTRL = hot("EVP_CIPHER_CTX_ctrl", JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle VERSION = hot("OpenSSL_version", JAVA_LONG, JAVA_INT);
    private static final MethodHandle INIT = hot("OPENSSL_init_crypto", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final String MISSING = begin();

    private LibcryptoCalls() {
    }

    private static SymbolLookup open() {
        try {
            return SymbolLookup.libraryLookup(FILE_NAME, Arena.global());
        } catch (IllegalArgumentException | IllegalCallerException e) {
            return name -> java.util.Optional.empty();
        }
    }

    /** Null where the library, or this function of it, is not there. */
    private static MethodHandle hot(String name, MemoryLayout result, MemoryLayout... arguments) {
        FunctionDescriptor descriptor = result == null ? FunctionDescriptor.ofVoid(arguments) : FunctionDescriptor.of(result, arguments);
        return LIBRARY.find(name).map(symbol -> Linker.nativeLinker().downcallHandle(symbol, descriptor, Linker.Option.critical(false))).orElse(null);
    }

    private static String begin() {
        for (MethodHandle handle : new MethodHandle[] {NEW, FREE, AES_256_GCM, ENCRYPT_INIT, DECRYPT_INIT, ENCRYPT, DECRYPT, ENCRYPT_FINAL,
            DECRYPT_FINAL, CTRL, VERSION, INIT}) {
            if (handle == null) {
                return FILE_NAME + " cannot be loaded or lacks a function";
            }
        }
        try {
            return (int) INIT.invokeExact(OPENSSL_INIT_NO_ATEXIT, 0L) == 1 ? null : FILE_NAME + " does not start";
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Why the library cannot be used; null if it can. */
    public static String missing() {
        return MISSING;
    }

    /** Such as "OpenSSL 3.0.19 27 Jan 2026". Set-up only. */
    public static String version() {
        try {
            return MemorySegment.ofAddress((long) VERSION.invokeExact(OPENSSL_VERSION)).reinterpret(Long.MAX_VALUE).getString(0);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** {@code EVP_CIPHER_CTX_new}: a context, or 0. */
    public static long newContext() {
        try {
            return (long) NEW.invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** {@code EVP_CIPHER_CTX_free}: erases and frees. */
    public static void freeContext(long context) {
        try {
            FREE.invokeExact(context);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** {@code EVP_aes_256_gcm}. */
    public static long aes256Gcm() {
        try {
            return (long) AES_256_GCM.invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** {@code EVP_EncryptInit_ex}; {@code cipher}, {@code key} and {@code iv} 0 where they stay what they are. */
    public static int encryptInit(long context, long cipher, long key, long iv) {
        try {
            return (int) ENCRYPT_INIT.invokeExact(context, cipher, 0L, key, iv);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** {@code EVP_DecryptInit_ex}, likewise. */
    public static int decryptInit(long context, long cipher, long key, long iv) {
        try {
            return (int) DECRYPT_INIT.invokeExact(context, cipher, 0L, key, iv);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** {@code EVP_EncryptUpdate}; {@code written} is the address of an int, {@code to} 0 for additional data. */
    public static int encrypt(long context, long to, long written, long from, int length) {
        try {
            return (int) ENCRYPT.invokeExact(context, to, written, from, length);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** {@code EVP_DecryptUpdate}, likewise. */
    public static int decrypt(long context, long to, long written, long from, int length) {
        try {
            return (int) DECRYPT.invokeExact(context, to, written, from, length);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** {@code EVP_EncryptFinal_ex}. */
    public static int encryptFinal(long context, long to, long written) {
        try {
            return (int) ENCRYPT_FINAL.invokeExact(context, to, written);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** {@code EVP_DecryptFinal_ex}: 1 if the tag is right. */
    public static int decryptFinal(long context, long to, long written) {
        try {
            return (int) DECRYPT_FINAL.invokeExact(context, to, written);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** {@code EVP_CIPHER_CTX_ctrl}. */
    public static int control(long context, int what, int number, long at) {
        try {
            return (int) CTRL.invokeExact(context, what, number, at);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static AssertionError unexpected(Throwable e) {
        return new AssertionError("a foreign call threw", e);
    }
}
