"""Verification by XMSS and XMSS^MT, the stateful hash-based signatures of RFC 8391 and SP 800-208.

    from gambeson.xmss import XMSSPublicKey

    public = XMSSPublicKey.from_public_bytes(published)
    public.verify(signature, firmware)  # returns, or raises InvalidSignature

Keys have 52, 68 or 132 bytes, which name their parameter set: XMSS and XMSS^MT count theirs each from 1, so that the class says which is meant. All
sets of both standards verify. A leaf that signs twice reveals enough for a forger, so that signing is for a store that promises to use no leaf twice,
and is not here.
"""

from gambeson._native import XMSSMTPublicKey, XMSSPublicKey

__all__ = ["XMSSMTPublicKey", "XMSSPublicKey"]
