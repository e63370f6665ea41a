// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.dpdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.bindings.dpdk.generated.PmdShim;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The committed bindings against the compiled shim: a stale binding fails here, by name. */
class PmdLayoutTest {
    private static final String GENERATED = PmdShim.class.getPackageName() + ".";

    @BeforeAll
    static void shim() {
        DpdkPresence.require();
        PmdLibrary.load();
    }

    @Test
    void everyConstantSizeAndOffsetIsWhatTheCompilerSees() throws ReflectiveOperationException {
        assertEquals(reported(), committed());
    }

    @Test
    void hotHandlesHaveTheGeneratedDescriptors() {
        assertSame(PmdShim.mrpmd_receive$descriptor(), PmdCalls.RECEIVE);
        assertSame(PmdShim.mrpmd_send$descriptor(), PmdCalls.SEND);
        assertSame(PmdShim.mrpmd_forward$descriptor(), PmdCalls.FORWARD);
        assertSame(PmdShim.mrpmd_release$descriptor(), PmdCalls.RELEASE);
        assertSame(PmdShim.mrpmd_alloc$descriptor(), PmdCalls.ALLOC);
        assertSame(PmdShim.mrpmd_free$descriptor(), PmdCalls.FREE);
        assertSame(PmdShim.mrpmd_sum16$descriptor(), PmdCalls.SUM16);
    }

    @Test
    void theLibrarySaysWhichDpdkItUses() {
        assertTrue(PmdLibrary.dpdkVersion().startsWith("DPDK "), PmdLibrary.dpdkVersion());
    }

    private static Map<String, Long> reported() {
        Map<String, Long> all = new TreeMap<>();
        for (int i = 0; i < PmdShim.mrpmd_layout_count(); i++) {
            all.put(PmdShim.mrpmd_layout_name(i).getString(0), PmdShim.mrpmd_layout_value(i));
        }
        return all;
    }

    private static Map<String, Long> committed() throws ReflectiveOperationException {
        Map<String, Long> all = new TreeMap<>();
        for (Method m : PmdShim.class.getMethods()) {
            if (Modifier.isStatic(m.getModifiers()) && m.getName().startsWith("MRPMD_")) {
                all.put(m.getName(), ((Number) m.invoke(null)).longValue());
            }
        }
        for (String struct : new String[] {"mrpmd_rx", "mrpmd_mbuf", "mrpmd_tx", "mrpmd_info", "mrpmd_setup", "mrpmd_stats"}) {
            StructLayout layout = (StructLayout) Class.forName(GENERATED + struct).getMethod("layout").invoke(null);
            all.put("sizeof(" + struct + ")", layout.byteSize());
            for (MemoryLayout member : layout.memberLayouts()) {
                String field = member.name().orElseThrow();   // no padding: the header promises so
                all.put(struct + "." + field, layout.byteOffset(PathElement.groupElement(field)));
            }
        }
        return all;
    }

    private static void assertSame(FunctionDescriptor generated, FunctionDescriptor hot) {
        assertEquals(plain(generated), plain(hot));
    }

    /** Return and argument carriers with pointers as longs. */
    private static List<Class<?>> plain(FunctionDescriptor descriptor) {
        List<Class<?>> carriers = new ArrayList<>();
        carriers.add(descriptor.returnLayout().<Class<?>>map(PmdLayoutTest::carrier).orElse(void.class));
        descriptor.argumentLayouts().forEach(l -> carriers.add(carrier(l)));
        return carriers;
    }

    private static Class<?> carrier(MemoryLayout layout) {
        return layout instanceof AddressLayout ? long.class : ((ValueLayout) layout).carrier();
    }
}
