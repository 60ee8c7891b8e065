import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.Security;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.logging.LogManager;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.jsse.BCSSLParameters;
import org.bouncycastle.jsse.BCSSLSocket;
import org.bouncycastle.jsse.provider.BouncyCastleJsseProvider;

/**
 * A TLS 1.3 peer of Bouncy Castle. Each line asks for one connection, its words between tabs: {@code client PORT ROOTS GROUP}, or
 * {@code server CHAIN KEY GROUP}, which tells its port first. What the one sends in a line the other sends back turned round. The
 * answer is {@code done}, or what went wrong.
 */
public final class Tls {
    private static final Provider BC = new BouncyCastleProvider();
    private static final Provider JSSE = new BouncyCastleJsseProvider(BC);
    private static final char[] NONE = {};
    private static final int PATIENCE_MS = 30_000;
    /** Those of ML-DSA are not among the ones that it takes by itself. */
    private static final String[] SCHEMES = {
        "mldsa44", "mldsa65", "mldsa87", "ed25519", "ed448", "ecdsa_secp256r1_sha256", "ecdsa_secp384r1_sha384"
    };

    public static void main(String[] arguments) throws Exception {
        Security.addProvider(BC);
        LogManager.getLogManager().reset();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split("\t");
            try {
                switch (words[0]) {
                    case "client" -> client(Integer.parseInt(words[1]), Path.of(words[2]), words[3]);
                    case "server" -> server(Path.of(words[1]), Path.of(words[2]), words[3]);
                    default -> throw new IllegalArgumentException("client or server");
                }
                System.out.println("done");
            } catch (Exception | LinkageError error) {
                System.out.println(error.toString().replaceAll("[\t\r\n]", " "));
            }
        }
    }

    private static void client(int port, Path roots, String group) throws Exception {
        KeyStore trusted = empty();
        for (Certificate root : certificates(roots)) {
            trusted.setCertificateEntry("root", root);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX", JSSE);
        factory.init(trusted);
        SSLContext context = context(null, factory.getTrustManagers());
        Socket plain = new Socket(InetAddress.getLoopbackAddress(), port);
        try (SSLSocket socket = (SSLSocket)
                context.getSocketFactory().createSocket(plain, "server.example", port, true)) {
            choose(socket, group, "HTTPS");
            socket.getOutputStream().write("hello\n".getBytes(StandardCharsets.UTF_8));
            String line = reader(socket).readLine();
            if (!"olleh".equals(line)) {
                throw new IllegalStateException(line);
            }
        }
    }

    private static void server(Path chain, Path key, String group) throws Exception {
        KeyStore own = empty();
        own.setKeyEntry("server", privateKey(key), NONE, certificates(chain));
        KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX", JSSE);
        factory.init(own, NONE);
        SSLContext context = context(factory.getKeyManagers(), null);
        try (SSLServerSocket listener = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            System.out.println(listener.getLocalPort());
            try (SSLSocket socket = (SSLSocket) listener.accept()) {
                choose(socket, group, null);
                String line = reader(socket).readLine();
                String back = new StringBuilder(line).reverse() + "\n";
                socket.getOutputStream().write(back.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private static SSLContext context(KeyManager[] keys, TrustManager[] trust) throws Exception {
        SSLContext context = SSLContext.getInstance("TLSv1.3", JSSE);
        context.init(keys, trust, null);
        return context;
    }

    private static void choose(SSLSocket socket, String group, String endpoint)
            throws SocketException {
        BCSSLSocket ours = (BCSSLSocket) socket;
        BCSSLParameters parameters = ours.getParameters();
        parameters.setProtocols(new String[] {"TLSv1.3"});
        // It takes a scheme of ECDSA only where the curve is among the groups.
        Set<String> groups = new LinkedHashSet<>();
        Collections.addAll(groups, group, "secp256r1", "secp384r1");
        parameters.setNamedGroups(groups.toArray(String[]::new));
        parameters.setSignatureSchemes(SCHEMES);
        parameters.setSignatureSchemesCert(SCHEMES);
        if (endpoint != null) {
            parameters.setEndpointIdentificationAlgorithm(endpoint);
        }
        ours.setParameters(parameters);
        socket.setSoTimeout(PATIENCE_MS);
    }

    private static KeyStore empty() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12", BC);
        store.load(null, null);
        return store;
    }

    private static Certificate[] certificates(Path path) throws Exception {
        CertificateFactory factory = CertificateFactory.getInstance("X.509", BC);
        return factory.generateCertificates(new ByteArrayInputStream(Files.readAllBytes(path)))
                .toArray(Certificate[]::new);
    }

    private static PrivateKey privateKey(Path path) throws Exception {
        String text = Files.readString(path).replaceAll("-----[A-Z ]+-----", "");
        byte[] der = Base64.getMimeDecoder().decode(text);
        String algorithm = PrivateKeyInfo.getInstance(der).getPrivateKeyAlgorithm().getAlgorithm().getId();
        return KeyFactory.getInstance(algorithm, BC).generatePrivate(new PKCS8EncodedKeySpec(der));
    }

    private static BufferedReader reader(SSLSocket socket) throws Exception {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }
}
