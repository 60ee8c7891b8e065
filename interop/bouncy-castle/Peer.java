import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Security;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.CertPath;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509CRL;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.crypto.KeyGenerator;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.CRLNumber;
import org.bouncycastle.asn1.x509.CRLReason;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.ExtensionsGenerator;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.X509v2CRLBuilder;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.jcajce.SecretKeyWithEncapsulation;
import org.bouncycastle.jcajce.spec.KEMExtractSpec;
import org.bouncycastle.jcajce.spec.KEMGenerateSpec;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.operator.jcajce.JcaContentVerifierProviderBuilder;
import org.bouncycastle.pkcs.PKCS10CertificationRequest;
import org.bouncycastle.pkcs.jcajce.JcaPKCS10CertificationRequestBuilder;
import org.bouncycastle.pqc.crypto.lms.LMOtsParameters;
import org.bouncycastle.pqc.crypto.lms.LMSigParameters;
import org.bouncycastle.pqc.jcajce.provider.BouncyCastlePQCProvider;
import org.bouncycastle.pqc.jcajce.spec.LMSHSSKeyGenParameterSpec;
import org.bouncycastle.pqc.jcajce.spec.LMSKeyGenParameterSpec;
import org.bouncycastle.pqc.jcajce.spec.XMSSMTParameterSpec;
import org.bouncycastle.pqc.jcajce.spec.XMSSParameterSpec;
import org.bouncycastle.util.encoders.Hex;

/**
 * Answers questions about keys, signatures and certificates with Bouncy Castle: a line in, a line out. Fields stand between
 * tabs, each a name, an equals sign and a value; bytes are in hexadecimal.
 */
public final class Peer {
    private static final Provider BC = new BouncyCastleProvider();
    /** Has XMSS and XMSS^MT, which the other one reads in certificates and does not compute. */
    private static final Provider PQC = new BouncyCastlePQCProvider();
    private static final SecureRandom RANDOM = new SecureRandom();

    public static void main(String[] arguments) throws Exception {
        Security.addProvider(BC);
        Security.addProvider(PQC);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line; (line = in.readLine()) != null; ) {
            Map<String, String> request = new HashMap<>();
            for (String field : line.split("\t")) {
                int at = field.indexOf('=');
                request.put(field.substring(0, at), field.substring(at + 1));
            }
            List<String> answer = new ArrayList<>();
            try {
                answer(request, answer);
            } catch (Exception | LinkageError error) {
                answer.clear();
                answer.add("error=" + error.toString().replaceAll("[\t\r\n]", " "));
            }
            out.println(String.join("\t", answer));
        }
    }

    private static void answer(Map<String, String> request, List<String> answer) throws Exception {
        switch (request.get("op")) {
            case "version" -> answer.add("version=" + BC.getVersionStr());
            case "generate" -> {
                KeyPair pair = generate(request.get("alg"));
                put(answer, "private", pair.getPrivate().getEncoded());
                put(answer, "public", pair.getPublic().getEncoded());
            }
            case "public" -> put(answer, "public", publicKey(bytes(request, "public")).getEncoded());
            case "private" -> put(answer, "private", privateKey(bytes(request, "private")).getEncoded());
            case "sign" -> {
                PrivateKey key = privateKey(bytes(request, "private"));
                put(answer, "signature", sign(request.get("scheme"), key, bytes(request, "message")));
            }
            case "verify" -> {
                Signature verifier = Signature.getInstance(request.get("scheme"), provider(request.get("scheme")));
                verifier.initVerify(publicKey(bytes(request, "public")));
                verifier.update(bytes(request, "message"));
                boolean valid;
                try {
                    valid = verifier.verify(bytes(request, "signature"));
                } catch (SignatureException malformed) {
                    valid = false;
                }
                answer.add("valid=" + valid);
            }
            case "encapsulate" -> {
                PublicKey key = publicKey(bytes(request, "public"));
                KeyGenerator generator = KeyGenerator.getInstance(request.get("scheme"), BC);
                generator.init(new KEMGenerateSpec.Builder(key, "AES", 256).withNoKdf().build(), RANDOM);
                SecretKeyWithEncapsulation made = (SecretKeyWithEncapsulation) generator.generateKey();
                put(answer, "c", made.getEncapsulation());
                put(answer, "k", made.getEncoded());
            }
            case "decapsulate" -> {
                PrivateKey key = privateKey(bytes(request, "private"));
                KeyGenerator generator = KeyGenerator.getInstance(request.get("scheme"), BC);
                byte[] c = bytes(request, "c");
                generator.init(new KEMExtractSpec.Builder(key, c, "AES", 256).withNoKdf().build(), RANDOM);
                put(answer, "k", generator.generateKey().getEncoded());
            }
            case "path" -> path(request, answer);
            case "look" -> look(request, answer);
            case "chain" -> chain(request.get("alg"), answer);
            case "pkcs12" -> pkcs12(request, answer);
            default -> HashBased.answer(request, answer);
        }
    }

    /** Whether the leaf leads to the root, as the path validator of Bouncy Castle says. */
    private static void path(Map<String, String> request, List<String> answer) throws Exception {
        List<X509Certificate> chain = new ArrayList<>();
        chain.add(certificate(bytes(request, "leaf")));
        if (request.containsKey("middle")) {
            chain.add(certificate(bytes(request, "middle")));
        }
        TrustAnchor root = new TrustAnchor(certificate(bytes(request, "root")), null);
        PKIXParameters parameters = new PKIXParameters(Set.of(root));
        parameters.setRevocationEnabled(false);
        CertPath path = CertificateFactory.getInstance("X.509", BC).generateCertPath(chain);
        try {
            CertPathValidator.getInstance("PKIX", BC).validate(path, parameters);
            answer.add("valid=true");
        } catch (CertPathValidatorException refusal) {
            answer.add("valid=false");
            answer.add("at=" + refusal.getIndex());
            answer.add("reason=" + refusal.getMessage().replaceAll("[\t\r\n]", " "));
        }
    }

    /** What a revocation list and a request say, and whether their signatures hold. */
    private static void look(Map<String, String> request, List<String> answer) throws Exception {
        X509Certificate middle = certificate(bytes(request, "middle"));
        X509Certificate leaf = certificate(bytes(request, "leaf"));
        CertificateFactory factory = CertificateFactory.getInstance("X.509", BC);
        X509CRL list = (X509CRL) factory.generateCRL(new ByteArrayInputStream(bytes(request, "crl")));
        list.verify(middle.getPublicKey(), provider(middle.getPublicKey().getAlgorithm()));
        answer.add("revoked=" + list.isRevoked(leaf));
        answer.add("other=" + list.isRevoked(middle));
        PKCS10CertificationRequest asked = new PKCS10CertificationRequest(bytes(request, "request"));
        boolean signed = asked.isSignatureValid(
                new JcaContentVerifierProviderBuilder()
                        .setProvider(provider(leaf.getPublicKey().getAlgorithm()))
                        .build(publicKey(asked.getSubjectPublicKeyInfo().getEncoded())));
        answer.add("request=" + signed);
    }

    /** A root, an authority, a server of example.com that list number 7 revokes, and the server's request. */
    private static void chain(String algorithm, List<String> answer) throws Exception {
        KeyPair rootKey = generate(algorithm);
        KeyPair middleKey = generate(algorithm);
        KeyPair leafKey = generate(algorithm);
        X509Certificate root = issue("CN=Root", rootKey.getPublic(), null, rootKey, 1);
        X509Certificate middle = issue("CN=Middle", middleKey.getPublic(), root, rootKey, 0);
        X509Certificate leaf = issue("CN=Leaf", leafKey.getPublic(), middle, middleKey, -1);
        put(answer, "root", root.getEncoded());
        put(answer, "middle", middle.getEncoded());
        put(answer, "leaf", leaf.getEncoded());

        X500Name issuer = X500Name.getInstance(middle.getSubjectX500Principal().getEncoded());
        X509v2CRLBuilder list = new X509v2CRLBuilder(issuer, hours(-1));
        list.setNextUpdate(hours(24));
        list.addCRLEntry(leaf.getSerialNumber(), hours(-1), CRLReason.keyCompromise);
        list.addExtension(Extension.cRLNumber, false, new CRLNumber(BigInteger.valueOf(7)));
        list.addExtension(
                Extension.authorityKeyIdentifier,
                false,
                new JcaX509ExtensionUtils().createAuthorityKeyIdentifier(middle.getPublicKey()));
        put(answer, "crl", list.build(signer(middleKey.getPrivate())).getEncoded());

        ExtensionsGenerator extensions = new ExtensionsGenerator();
        extensions.addExtension(Extension.subjectAlternativeName, false, exampleCom());
        put(answer, "request", new JcaPKCS10CertificationRequestBuilder(new X500Name("CN=Leaf"), leafKey.getPublic())
                .addAttribute(PKCSObjectIdentifiers.pkcs_9_at_extensionRequest, extensions.generate())
                .build(signer(leafKey.getPrivate()))
                .getEncoded());
    }

    private static X509Certificate issue(
            String name, PublicKey subject, X509Certificate issuer, KeyPair issuerKey, int pathLength) throws Exception {
        X500Name asked = new X500Name(name);
        X500Name by = issuer == null ? asked : X500Name.getInstance(issuer.getSubjectX500Principal().getEncoded());
        X509v3CertificateBuilder builder = new JcaX509v3CertificateBuilder(
                by, new BigInteger(159, RANDOM).setBit(158), hours(-1), hours(24), asked, subject);
        JcaX509ExtensionUtils identifiers = new JcaX509ExtensionUtils();
        boolean authority = pathLength >= 0;
        builder.addExtension(
                Extension.basicConstraints,
                true,
                authority ? new BasicConstraints(pathLength) : new BasicConstraints(false));
        int usage = authority ? KeyUsage.keyCertSign | KeyUsage.cRLSign : KeyUsage.digitalSignature;
        builder.addExtension(Extension.keyUsage, true, new KeyUsage(usage));
        builder.addExtension(
                Extension.subjectKeyIdentifier, false, identifiers.createSubjectKeyIdentifier(subject));
        if (issuer != null) {
            builder.addExtension(
                    Extension.authorityKeyIdentifier,
                    false,
                    identifiers.createAuthorityKeyIdentifier(issuer.getPublicKey()));
        }
        if (!authority) {
            ExtendedKeyUsage server = new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth);
            builder.addExtension(Extension.extendedKeyUsage, false, server);
            builder.addExtension(Extension.subjectAlternativeName, false, exampleCom());
        }
        ContentSigner signer = signer(issuerKey.getPrivate());
        return new JcaX509CertificateConverter().setProvider(BC).getCertificate(builder.build(signer));
    }

    /** Opens a file with the key store of the named provider, and signs with what is in it. */
    private static void pkcs12(Map<String, String> request, List<String> answer) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12", request.get("provider"));
        char[] passphrase = request.get("passphrase").toCharArray();
        store.load(new ByteArrayInputStream(bytes(request, "file")), passphrase);
        // It counts the certificates without keys as entries too.
        List<String> names = new ArrayList<>();
        for (String alias : Collections.list(store.aliases())) {
            if (store.isKeyEntry(alias)) {
                names.add(alias);
            }
        }
        String name = names.get(0);
        answer.add("keys=" + names.size());
        answer.add("name=" + name);
        Certificate[] chain = store.getCertificateChain(name);
        answer.add("certificates=" + chain.length);
        put(answer, "leaf", chain[0].getEncoded());
        // Newer releases of Java have a class of their own for what was in the file.
        PrivateKey key = privateKey(store.getKey(name, passphrase).getEncoded());
        put(answer, "signature", sign(request.get("scheme"), key, bytes(request, "message")));
    }

    private static KeyPair generate(String algorithm) throws Exception {
        if (algorithm.startsWith("ECDSA-P")) {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC", BC);
            generator.initialize(new ECGenParameterSpec("secp" + algorithm.substring(7) + "r1"), RANDOM);
            return generator.generateKeyPair();
        }
        if (algorithm.startsWith("HSS-")) {
            LMSKeyGenParameterSpec tree =
                    new LMSKeyGenParameterSpec(LMSigParameters.lms_sha256_n32_h5, LMOtsParameters.sha256_n32_w4);
            LMSKeyGenParameterSpec[] levels = new LMSKeyGenParameterSpec[Integer.parseInt(algorithm.substring(4))];
            Arrays.fill(levels, tree);
            KeyPairGenerator generator = KeyPairGenerator.getInstance("LMS", BC);
            generator.initialize(new LMSHSSKeyGenParameterSpec(levels), RANDOM);
            return generator.generateKeyPair();
        }
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm, provider(algorithm));
        switch (algorithm) {
            case "XMSS" -> generator.initialize(new XMSSParameterSpec(10, XMSSParameterSpec.SHA256), RANDOM);
            case "XMSSMT" -> generator.initialize(new XMSSMTParameterSpec(20, 4, XMSSMTParameterSpec.SHA256), RANDOM);
            default -> {}
        }
        return generator.generateKeyPair();
    }

    /** The provider that computes an algorithm, which a name or an object identifier of RFC 9802 names. */
    private static Provider provider(String algorithm) {
        boolean stateful = algorithm.startsWith("XMSS") || algorithm.matches("1\\.3\\.6\\.1\\.5\\.5\\.7\\.6\\.3[45]");
        return stateful ? PQC : BC;
    }

    private static ContentSigner signer(PrivateKey key) throws Exception {
        return new JcaContentSignerBuilder(scheme(key)).setProvider(provider(scheme(key))).build(key);
    }

    private static String scheme(PrivateKey key) {
        if (!key.getAlgorithm().startsWith("EC")) {
            return key.getAlgorithm();
        }
        int bits = ((java.security.interfaces.ECKey) key).getParams().getOrder().bitLength();
        return "SHA" + bits + "withECDSA";
    }

    private static byte[] sign(String scheme, PrivateKey key, byte[] message) throws Exception {
        Signature signer = Signature.getInstance(scheme, provider(scheme));
        if (signer.getProvider() == PQC) {
            // XMSS takes no randomness: r follows from the index.
            signer.initSign(key);
        } else {
            signer.initSign(key, RANDOM);
        }
        signer.update(message);
        return signer.sign();
    }

    private static PublicKey publicKey(byte[] der) throws Exception {
        String algorithm = org.bouncycastle.asn1.x509.SubjectPublicKeyInfo.getInstance(der)
                .getAlgorithm().getAlgorithm().getId();
        return KeyFactory.getInstance(algorithm, provider(algorithm)).generatePublic(new X509EncodedKeySpec(der));
    }

    private static PrivateKey privateKey(byte[] der) throws Exception {
        String algorithm = PrivateKeyInfo.getInstance(der).getPrivateKeyAlgorithm().getAlgorithm().getId();
        return KeyFactory.getInstance(algorithm, provider(algorithm)).generatePrivate(new PKCS8EncodedKeySpec(der));
    }

    private static X509Certificate certificate(byte[] der) throws Exception {
        CertificateFactory factory = CertificateFactory.getInstance("X.509", BC);
        return (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der));
    }

    private static GeneralNames exampleCom() {
        return new GeneralNames(new GeneralName(GeneralName.dNSName, "example.com"));
    }

    private static Date hours(int fromNow) {
        return new Date(System.currentTimeMillis() + fromNow * 3_600_000L);
    }

    static byte[] bytes(Map<String, String> request, String name) {
        return Hex.decode(request.get(name));
    }

    static void put(List<String> answer, String name, byte[] value) {
        answer.add(name + "=" + Hex.toHexString(value));
    }
}
