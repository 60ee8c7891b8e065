package org.bouncycastle.pqc.crypto.xmss;

import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.crypto.Digest;
import org.bouncycastle.crypto.Xof;

/**
 * The keyed hash functions of SP 800-208, in the place of those of Bouncy Castle 1.85: where nodes have 24 bytes, it begins the input of
 * every function with toByte(x, 24), and SP 800-208, sections 5.2 and 5.4, with toByte(x, 4).
 */
final class KeyedHashFunctions {
    private final ASN1ObjectIdentifier function;
    private final int n;

    KeyedHashFunctions(ASN1ObjectIdentifier function, int n) {
        this.function = function;
        this.n = n;
    }

    byte[] F(byte[] key, byte[] input) {
        return hash(0, key, input);
    }

    byte[] H(byte[] key, byte[] input) {
        return hash(1, key, input);
    }

    byte[] HMsg(byte[] key, byte[] input) {
        return hash(2, key, input);
    }

    byte[] PRF(byte[] key, byte[] address) {
        return hash(3, key, address);
    }

    private byte[] hash(int number, byte[] key, byte[] input) {
        Digest digest = DigestUtil.getDigest(function);
        byte[] prefix = XMSSUtil.toBytesBigEndian(number, n == 24 ? 4 : n);
        digest.update(prefix, 0, prefix.length);
        digest.update(key, 0, key.length);
        digest.update(input, 0, input.length);
        byte[] output = new byte[n];
        if (digest instanceof Xof xof) {
            xof.doFinal(output, 0, n);
        } else {
            byte[] whole = new byte[digest.getDigestSize()];
            digest.doFinal(whole, 0);
            System.arraycopy(whole, 0, output, 0, n);
        }
        return output;
    }
}
