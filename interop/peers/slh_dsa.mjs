// Answers questions about SLH-DSA with the OpenSSL inside Node: JSON lines in, JSON lines out; bytes are in hexadecimal.
import { createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { createInterface } from "node:readline";

const bytes = (text) => Buffer.from(text, "hex");

const answer = (request) => {
  const { op, alg, message, context } = request;
  switch (op) {
    case "version":
      return { version: process.versions.openssl };
    case "sign": {
      const { privateKey, publicKey } = generateKeyPairSync(alg);
      const signature = sign(null, bytes(message), { key: privateKey, context: bytes(context) });
      return {
        private: privateKey.export({ format: "der", type: "pkcs8" }).toString("hex"),
        public: publicKey.export({ format: "der", type: "spki" }).toString("hex"),
        signature: signature.toString("hex"),
      };
    }
    case "verify": {
      const key = createPublicKey({ key: bytes(request.public), format: "der", type: "spki" });
      return { valid: verify(null, bytes(message), { key, context: bytes(context) }, bytes(request.signature)) };
    }
    default:
      throw new Error(`unknown op ${op}`);
  }
};

for await (const line of createInterface({ input: process.stdin })) {
  let result;
  try {
    result = answer(JSON.parse(line));
  } catch (error) {
    result = { error: String(error) };
  }
  console.log(JSON.stringify(result));
}
