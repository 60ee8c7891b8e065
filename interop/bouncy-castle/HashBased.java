import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.bouncycastle.crypto.AsymmetricCipherKeyPair;
import org.bouncycastle.crypto.CipherParameters;
import org.bouncycastle.crypto.generators.SLHDSAKeyPairGenerator;
import org.bouncycastle.crypto.params.ParametersWithContext;
import org.bouncycastle.crypto.params.ParametersWithRandom;
import org.bouncycastle.crypto.params.SLHDSAKeyGenerationParameters;
import org.bouncycastle.crypto.params.SLHDSAParameters;
import org.bouncycastle.crypto.params.SLHDSAPrivateKeyParameters;
import org.bouncycastle.crypto.params.SLHDSAPublicKeyParameters;
import org.bouncycastle.crypto.signers.HashSLHDSASigner;
import org.bouncycastle.crypto.signers.SLHDSASigner;
import org.bouncycastle.pqc.crypto.lms.HSSKeyGenerationParameters;
import org.bouncycastle.pqc.crypto.lms.HSSKeyPairGenerator;
import org.bouncycastle.pqc.crypto.lms.HSSPrivateKeyParameters;
import org.bouncycastle.pqc.crypto.lms.HSSPublicKeyParameters;
import org.bouncycastle.pqc.crypto.lms.HSSSigner;
import org.bouncycastle.pqc.crypto.lms.LMOtsParameters;
import org.bouncycastle.pqc.crypto.lms.LMSParameters;
import org.bouncycastle.pqc.crypto.lms.LMSigParameters;
import org.bouncycastle.pqc.crypto.xmss.XMSSKeyGenerationParameters;
import org.bouncycastle.pqc.crypto.xmss.XMSSKeyPairGenerator;
import org.bouncycastle.pqc.crypto.xmss.XMSSMTKeyGenerationParameters;
import org.bouncycastle.pqc.crypto.xmss.XMSSMTKeyPairGenerator;
import org.bouncycastle.pqc.crypto.xmss.XMSSMTParameters;
import org.bouncycastle.pqc.crypto.xmss.XMSSMTPrivateKeyParameters;
import org.bouncycastle.pqc.crypto.xmss.XMSSMTPublicKeyParameters;
import org.bouncycastle.pqc.crypto.xmss.XMSSMTSigner;
import org.bouncycastle.pqc.crypto.xmss.XMSSParameters;
import org.bouncycastle.pqc.crypto.xmss.XMSSPrivateKeyParameters;
import org.bouncycastle.pqc.crypto.xmss.XMSSPublicKeyParameters;
import org.bouncycastle.pqc.crypto.xmss.XMSSSigner;

/** Answers questions about hash-based signatures, whose keys are the raw bytes of the standards. */
final class HashBased {
    private static final SecureRandom RANDOM = new SecureRandom();

    private HashBased() {}

    static void answer(Map<String, String> request, List<String> answer) throws Exception {
        switch (request.get("op")) {
            case "slh_dsa_generate" -> {
                SLHDSAKeyPairGenerator generator = new SLHDSAKeyPairGenerator();
                generator.init(new SLHDSAKeyGenerationParameters(RANDOM, set(request, false)));
                var key = (SLHDSAPrivateKeyParameters) generator.generateKeyPair().getPrivate();
                Peer.put(answer, "private", key.getEncoded());
                Peer.put(answer, "public", key.getEncodedPublicKey());
            }
            case "slh_dsa_sign" -> slhDsaSign(request, answer);
            case "slh_dsa_verify" -> answer.add("valid=" + slhDsaVerifies(request));
            case "hss_sign" -> hssSign(request, answer);
            case "hss_verify" -> {
                HSSSigner verifier = new HSSSigner();
                verifier.init(false, HSSPublicKeyParameters.getInstance(Peer.bytes(request, "public")));
                answer.add("valid=" + verifier.verifySignature(message(request), Peer.bytes(request, "signature")));
            }
            case "xmss_sign" -> xmssSign(request, answer);
            case "xmss_verify" -> answer.add("valid=" + xmssVerifies(request));
            case "xmssmt_sign" -> xmssMtSign(request, answer);
            case "xmssmt_verify" -> answer.add("valid=" + xmssMtVerifies(request));
            default -> throw new IllegalArgumentException("unknown op");
        }
    }

    private static byte[] message(Map<String, String> request) {
        return Peer.bytes(request, "message");
    }

    /** The parameters of a set such as {@code sha2_128s}, and with {@code hash}, of its pre-hash form, such as {@code _with_sha256}. */
    private static SLHDSAParameters set(Map<String, String> request, boolean withHash) throws Exception {
        String name = request.get("set") + (withHash ? "_with_" + request.get("hash") : "");
        return (SLHDSAParameters) SLHDSAParameters.class.getField(name).get(null);
    }

    /** Signs with a raw key: deterministically, unless the request has the field {@code hedged}. */
    private static void slhDsaSign(Map<String, String> request, List<String> answer) throws Exception {
        boolean isPreHashed = request.containsKey("hash");
        CipherParameters key =
                new SLHDSAPrivateKeyParameters(set(request, isPreHashed), Peer.bytes(request, "private"));
        if (request.containsKey("hedged")) {
            key = new ParametersWithRandom(key, RANDOM);
        }
        key = new ParametersWithContext(key, Peer.bytes(request, "context"));
        byte[] message = message(request);
        byte[] signature;
        if (isPreHashed) {
            HashSLHDSASigner signer = new HashSLHDSASigner();
            signer.init(true, key);
            signer.update(message, 0, message.length);
            signature = signer.generateSignature();
        } else {
            SLHDSASigner signer = new SLHDSASigner();
            signer.init(true, key);
            signature = signer.generateSignature(message);
        }
        Peer.put(answer, "signature", signature);
    }

    private static boolean slhDsaVerifies(Map<String, String> request) throws Exception {
        boolean isPreHashed = request.containsKey("hash");
        CipherParameters key = new SLHDSAPublicKeyParameters(set(request, isPreHashed), Peer.bytes(request, "public"));
        key = new ParametersWithContext(key, Peer.bytes(request, "context"));
        byte[] message = message(request);
        byte[] signature = Peer.bytes(request, "signature");
        if (isPreHashed) {
            HashSLHDSASigner verifier = new HashSLHDSASigner();
            verifier.init(false, key);
            verifier.update(message, 0, message.length);
            return verifier.verifySignature(signature);
        }
        SLHDSASigner verifier = new SLHDSASigner();
        verifier.init(false, key);
        return verifier.verifySignature(message, signature);
    }

    /**
     * Generates a key whose levels have the types that {@code levels} names, such as {@code 5:4,5:4} for LMS type 5 with LM-OTS type 4
     * twice, and signs with the leaf number {@code leaf}.
     */
    private static void hssSign(Map<String, String> request, List<String> answer) throws Exception {
        String[] types = request.get("levels").split(",");
        LMSParameters[] levels = Arrays.stream(types).map(HashBased::level).toArray(LMSParameters[]::new);
        HSSKeyPairGenerator generator = new HSSKeyPairGenerator();
        generator.init(new HSSKeyGenerationParameters(levels, RANDOM));
        var key = (HSSPrivateKeyParameters) generator.generateKeyPair().getPrivate();
        int leaf = Integer.parseInt(request.get("leaf"));
        if (leaf > 0) {
            key.extractKeyShard(leaf); // The leaves before it belong to that other key.
        }
        HSSSigner signer = new HSSSigner();
        signer.init(true, key);
        Peer.put(answer, "signature", signer.generateSignature(message(request)));
        Peer.put(answer, "public", key.getPublicKey().getEncoded());
    }

    private static LMSParameters level(String types) {
        int[] codes = Arrays.stream(types.split(":")).mapToInt(Integer::parseInt).toArray();
        return new LMSParameters(
                LMSigParameters.getParametersForType(codes[0]), LMOtsParameters.getParametersForType(codes[1]));
    }

    /** The number of the parameter set, with which the public key begins. */
    private static int set(Map<String, String> request) {
        return Integer.parseInt(request.get("set"));
    }

    /** Generates a key of XMSS and signs with the leaf number {@code leaf}. */
    private static void xmssSign(Map<String, String> request, List<String> answer) throws Exception {
        XMSSKeyPairGenerator generator = new XMSSKeyPairGenerator();
        generator.init(new XMSSKeyGenerationParameters(XMSSParameters.lookupByOID(set(request)), RANDOM));
        AsymmetricCipherKeyPair pair = generator.generateKeyPair();
        int leaf = Integer.parseInt(request.get("leaf"));
        if (leaf > 0) {
            ((XMSSPrivateKeyParameters) pair.getPrivate()).extractKeyShard(leaf);
        }
        XMSSSigner signer = new XMSSSigner();
        signer.init(true, pair.getPrivate());
        Peer.put(answer, "signature", signer.generateSignature(message(request)));
        Peer.put(answer, "public", ((XMSSPublicKeyParameters) pair.getPublic()).getEncoded());
    }

    private static boolean xmssVerifies(Map<String, String> request) throws Exception {
        XMSSParameters set = XMSSParameters.lookupByOID(set(request));
        XMSSSigner verifier = new XMSSSigner();
        verifier.init(false, new XMSSPublicKeyParameters.Builder(set).withPublicKey(Peer.bytes(request, "public")).build());
        return verifier.verifySignature(message(request), Peer.bytes(request, "signature"));
    }

    /** Generates a key of XMSS^MT and signs with the leaf number {@code leaf}. */
    private static void xmssMtSign(Map<String, String> request, List<String> answer) throws Exception {
        XMSSMTKeyPairGenerator generator = new XMSSMTKeyPairGenerator();
        generator.init(new XMSSMTKeyGenerationParameters(XMSSMTParameters.lookupByOID(set(request)), RANDOM));
        AsymmetricCipherKeyPair pair = generator.generateKeyPair();
        int leaf = Integer.parseInt(request.get("leaf"));
        if (leaf > 0) {
            ((XMSSMTPrivateKeyParameters) pair.getPrivate()).extractKeyShard(leaf);
        }
        XMSSMTSigner signer = new XMSSMTSigner();
        signer.init(true, pair.getPrivate());
        Peer.put(answer, "signature", signer.generateSignature(message(request)));
        Peer.put(answer, "public", ((XMSSMTPublicKeyParameters) pair.getPublic()).getEncoded());
    }

    private static boolean xmssMtVerifies(Map<String, String> request) throws Exception {
        XMSSMTParameters set = XMSSMTParameters.lookupByOID(set(request));
        XMSSMTSigner verifier = new XMSSMTSigner();
        verifier.init(false, new XMSSMTPublicKeyParameters.Builder(set).withPublicKey(Peer.bytes(request, "public")).build());
        return verifier.verifySignature(message(request), Peer.bytes(request, "signature"));
    }
}
