"""Verification by LMS and HSS, the stateful hash-based signatures of RFC 8554, RFC 9858 and SP 800-208.

    from gambeson.lms import HSSPublicKey

    public = HSSPublicKey.from_public_bytes(published)
    public.verify(signature, firmware)  # returns, or raises InvalidSignature

An LMS key has 48 or 56 bytes, an HSS key 4 more; they name their types. All 20 types of LMS, each with its four types of LM-OTS, and up to eight
levels of HSS. A one-time key that signs twice gives its secrets away, so that signing is for a store that promises to use no leaf twice, and is not
here.
"""

from gambeson._native import HSSPublicKey, LMSPublicKey

__all__ = ["HSSPublicKey", "LMSPublicKey"]
