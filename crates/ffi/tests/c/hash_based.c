// Hash-based signatures: SLH-DSA with every parameter set, LMS, HSS, XMSS and XMSS^MT. Answers of SLH-DSA from NIST's ACVP server, FIPS 205 sample files
// (public domain); the signature by LMS from post-quantum-cryptography/KAT (LMS sigVer, SHA-256/192, H5, W8), that by
// XMSS from liboqs (XMSS-SHA2_10_192). vectors.c has more.

#include "checks.h"

// Seeds SK.seed, SK.prf, PK.seed, and PK.root.
static const struct { int set; const char *seeds, *root; } keys[12] = {
    {GAMBESON_SLHDSA_SHA2_128S,
     "ac379f047faab2004f3ae32350ac9a3d829fff0aa59e956a87f3971c4d58e7100566d240cc519834322eafbcc73c79f5",
     "a4b84f02e8bf0cbd54017b2d3c494b57"},
    {GAMBESON_SLHDSA_SHAKE_128S,
     "2a2ccf3cd8f9f86e131be654cff6c0b4fdfceb1aa2f0ba2c3c1388194f6116c7890cc7f4a46fe6c34d3f26a62ff962e1",
     "e8c88d2bdcba6f66e50403e77fa92efe"},
    {GAMBESON_SLHDSA_SHA2_128F,
     "aed6f6f5c5408bbffa1136bc9049a7014d4ce0711e176a0c8a023508a692c20774d98d5000af53b98f36389a1292bed3",
     "f4a650c56c426fcfdb88e3355459440c"},
    {GAMBESON_SLHDSA_SHAKE_128F,
     "cd4a308c03d970508572c0815d7488b7f3fd6d2dcc7e5120fa544846aedded81bc435c3e66e4c2e4fbc09779da5f74d4",
     "4ea0e0df05c2457bcc81f59928433390"},
    {GAMBESON_SLHDSA_SHA2_192S,
     "3bfaed208b7dc795bf3647f86e4b48bf9adb8d6784c50155a20311739497c3fcb860ee47e09ede036f7ae8a939155bc0a67856a81a6adb"
     "ced7f1a2780cc48a06681ba5e8c7938506",
     "bd031bc8124f95f0bae2becb2a3fbbaec453c04a6e918ffb"},
    {GAMBESON_SLHDSA_SHAKE_192S,
     "915173ee0d17f30877e1d463e3dec914e71f436867ad7615ed782e7033c4963a7ff0b67181de0f0ea7efabb326d40a86520660f654d537"
     "da6934f96e5ee01b24a2f36102f68dcd10",
     "aa206fc79803e63850da5e86969569fc8fb021b6c40616e2"},
    {GAMBESON_SLHDSA_SHA2_192F,
     "45d7131c727df1cc51db85b44e37868215df8aec5d1b552f92bc5fc8a2969fe0a522492082e994de1ddc90fa984f847b8330589c20701a"
     "a9f11b473b67e1d67e1c6a2eb6c86265ed",
     "13a3ea895c4eeeadde8a796bba5233f0d86ee5cbf2a6f99c"},
    {GAMBESON_SLHDSA_SHAKE_192F,
     "855000fdfffba76962809c69432452f3dc79428f662c59b143b1fc381c300b5ecec7571b5de2fca16737e4c14911f683124623ba6ca1bc"
     "1b0e1a303099e2a608b0ac41715bc788a1",
     "9873c783378f935794abc0313243efc3f4a10a619cb1b1fe"},
    {GAMBESON_SLHDSA_SHA2_256S,
     "2fbeab9a6a80fd817e7efcdf834efbd4f0a36195d7598408a6a151e93de6a5575d0b37d1ecbc68265b0afeecbba783dd27eafdbdf3143e"
     "4af3e5057fd5c2dada1322f94917ae67d0db420203178d591283c08be8a1385a16ce70cd9fbafd2ac6",
     "40041eab68a4a653f89cab7585f6b410603326dbbaaf733e7e72cb6097a4a452"},
    {GAMBESON_SLHDSA_SHAKE_256S,
     "7d88445a7b0022f12e9e2d74755431505ff6db1c38a8ce44864d34cff1a12ce0ff2cd133ad00728eb29dd0ce881c41c640f2e28861555b"
     "59d4e0baa0447bb54287a133b92eb6c81771ae002819b4c0300fa63cd7181c805096bfb16067f52a45",
     "cc785237c24d9235b6bc3194b79e5a9f953388ea745d7cfb87826a94e5b271d5"},
    {GAMBESON_SLHDSA_SHA2_256F,
     "b8abc485122be003cf36d677bee7f47ea1017c39d96d0c56a87a7adad24f731a9222684ffacf803d44cb98222c44b3c519698b798d8f7a"
     "759fe2fa6ef173cf640d50e82bedb42e03cc967e7fd24c12777855a946fd49471184330f096a75b561",
     "7fb65fbd08d05f24f20cb3875e28fac4a52a2513c7ef447b8e9328632a684cf7"},
    {GAMBESON_SLHDSA_SHAKE_256F,
     "3de4b54a5f5fb98d6638fb3d8899355cc3582e8a397d0990cad032d78ee9e199da7f71d21d0182a99de34e2796fe5dde046d9c9e961dce"
     "24c2562728be7d9632b3ef3825a515e0b2e4164db7ec805b4cf1c7a2de6e63d7df359b99b1f3063f25",
     "aec38ff53c46aad930166957ca0db5c5466d0cbe9a11970987a230ebbb5450a4"},
};

// A signature by its SHA-256. Without randomness it is of the deterministic variant.
static const struct { int set; const char *sk, *message, *context; int prehash; const char *randomness, *sha256; } signatures[16] = {
    {GAMBESON_SLHDSA_SHA2_128S,
     "4678d1f07c682516f24fdf63ae47241be4acda3ef56150c458c6bc477f14e75ea8b8365a9fc2a6877d2a6237c687ab41e38f37e0274fff"
     "bd77655a1db6c446c1",
     "1b", "caa7b50b2763d195bfa1e5793e17a7cd5dfbd8a163bf6d876cec512cfc97aa9d1d76e7700cbacd1f2d8371766fdfae3cb0ea", 0,
     "", "0d6dc439e181e2a50ecdc4d6e9dcd7a0644feafebc0e6138a78a91cb748bb22c"},
    {GAMBESON_SLHDSA_SHA2_128S,
     "ed4f8fd247518ffbd1c95e31a0d2e08509af8177ac12a0a2467a4bdcc77375bcd188c114e11c8e57fd68ee398b554a17b4aea6eebc0e97"
     "19e24761fc0ee58631",
     "9b", "2e38d7726af193db2613203dd3b0c8227fde5397d85e9fb262be3a58d857d805ac292ad5de659824cf336361f8d8945aaeccafc01d01", GAMBESON_PREHASH_SHAKE256,
     "", "88a80c023573915898ff048195eee1c1543efbbcd162ceb8fd0ae8ea35f9a224"},
    {GAMBESON_SLHDSA_SHAKE_128S,
     "576f8db0e71d438043ca7593fad24a9c52e9b3a6487fed60b9765f3c673b0b08dfb31367335035721abbe78f1a5d736a1d907c8a2cbdb5"
     "f8ec82f9f82b8d4017",
     "7d", "2d189f90cce1d7ea24d09c7c6c46a05ad9665a260a9e625d4a9d5037b0cf060ed2ad79d46494c69fae9d879c1580", 0,
     "458792e83ab836df9765020d80f2dbd3", "0abdd392131636c53f79fdda16856d7db59bdc4cb3f7616586a50109235de90e"},
    {GAMBESON_SLHDSA_SHA2_128F,
     "d5213ba4bb6470f1b9eda88cbc94e6277a58a951ef7f2b81461dbac41b5a6b83fa495fb834defea7cc96a81309479135a67029e90668c5"
     "a58b96e60111491f3d",
     "3f", "", 0,
     "", "d3537e05ae63876bf78015ff86cc9e284f91cabfac191298fbaa375596351d55"},
    {GAMBESON_SLHDSA_SHA2_128F,
     "ae15866bac9eda6085a54b288376fca0bc2dc0ee5a1034468bec94f8963a4df0fcee5914a34e87c4785bdfea9e7fc2890ced4ee74f76f0"
     "a4b0cb821a60c4ebf9",
     "a7", "321a15ef6b6c98c9523dcb9fa7675ca1baaba527cba2", GAMBESON_PREHASH_SHAKE128,
     "05a79620f1f5775c0f934e9c027bcb9c", "a849e7c9bba9a59355318cbe5acd2d8da728878b2b7c61e17ce9a0d77595d000"},
    {GAMBESON_SLHDSA_SHAKE_128F,
     "23b67d76f712bf69bc11504b6916ae4dd803898f16023470bc7be16ecb4f94b2c0220d26f040f499d209385b8ef3387ce96c94ede698a7"
     "03ea5827e96d37bafa",
     "45", "63816b7d09879fa1b60090deabe230e316fc9654a9b6e07af1bf498a92a3b737e4dd5ac4c994cb74a6a0d597d7060c9378d12205e3e378"
     "be", 0,
     "", "9a251374a67bca2b95aa583195650dea4017d2c05e4fa12c81bbe6e7930edf4d"},
    {GAMBESON_SLHDSA_SHAKE_128F,
     "f6e8f3cab19bc694fba252b9c8c6ef5d7a109d8e3a4232f352880dbf4e96673c3dcac1cc5404dd02b4823d54a2639493d84614abf0c4c9"
     "1f75ebef107a5adbd7",
     "02", "7fb3fbecde087abd4868bc2da6e052d4468cb7a03cd21038f0e9a90c4f3a47884d0b1561948377ce9009ca8d7942a916", GAMBESON_PREHASH_SHA3_384,
     "", "9316889a6b623f01bc2f2932846a12c95f17734c8047543b29c5bcd8613694b3"},
    {GAMBESON_SLHDSA_SHA2_192S,
     "79a1a38b64d1a59e4d236d4012209ca5beae42413cc45d243700447e16c44060107fd043a8001a3dee5d471127702881cd0a7a6d26d432"
     "3e5eac87d218bb4bbb8042930efd1cb1dedb85cd7427ed248c356404e28619484e1117dc9f6cedda63",
     "9b", "eee6", 0,
     "38a611fda9b3acfc683c515fd18bf03e4ba6a244fe53127f", "7eb79b2d10a5e310a7009e71c6405990bab4618d9ee2f6ef2db772560fc97de4"},
    {GAMBESON_SLHDSA_SHAKE_192S,
     "e27dab8383088e3131abbe8e6ded6b90dcee880fda4a5cc531d997761c9609c243d9731685141d874d462000e0840e43bd1b25a970e6a0"
     "256fdb0d04009668df196a3a75b9f0b92f5397c11c0662575e61162157c6f0cb05224e0b80822c8758",
     "41", "adff67bc18e8693af6ed92c331fec5fdd09b", 0,
     "", "4cc5a38c13a4f1dbde4c38ec8ee769be6b0aecd6616a4df05c1dd1e7fc7c3c76"},
    {GAMBESON_SLHDSA_SHAKE_192S,
     "661616a26b2a2951328ad9ab180d5fe898588e0df1b227f6f121e1880905b4b5f7cdefb957b8f9c5a10f40ebb4e6fef061783320b2536b"
     "4fa7ada3a80f004c11df2068fc5fad761dd9d3bcbca5e5d2cf50393d6ff0388a5238cf2d2e3f66dad6",
     "82", "", GAMBESON_PREHASH_SHA2_384,
     "", "f0c0b88a82d717c9c5d77dddfe8c4631dd68e97c6087048ad14ad410c7b00aa4"},
    {GAMBESON_SLHDSA_SHA2_192F,
     "c6284483158d888ac6f90727677fd2900856236f5029b72b393bdbcd4192921e58a7ad1728e879b5ce963f22cafbbbacdcaed01eadb2b0"
     "3c50e58c28b3a3638ee667cd5ac288485e5973c7e58a37508b7dd69e94b71c045995c744b23254ba19",
     "cd", "", GAMBESON_PREHASH_SHA2_256,
     "", "3827ff2b1dc67bad096f87062dedf3f84f39a808405cc47e845df5dbf72c544a"},
    {GAMBESON_SLHDSA_SHA2_256S,
     "ea6c803a4879049115a18cea44f93b3cac7e9a0335821336bebec62a328e7146b684754c25a078cfb90af0ceb5a945f2cae633ac00c576"
     "f6d12873559646f2c2818403d3ddc68ce8d21cb6d7f456af1e5e69a1c6744e2712c856e853107397a79b2e8e160b71b6aa50553fcfd182"
     "f2693d34e1d9b18eb03852931995b7491ea2",
     "67", "", 0,
     "a1fdbfbe02e0da2ca5252db2b8f715d852ce5b815b929c99d95cdd4c446080db", "52cf9084167f5948b337bc2c498462492f8d3945b3d7e46486dc1ca2607626da"},
    {GAMBESON_SLHDSA_SHAKE_256S,
     "d2bdc926a9746213cdb18004c2f6ef8c70324eecf48f9cd041042375e4ad0909061b5bae13d1df5888a9b4a8cac8351a5589fbb0c7f0e3"
     "6b3d8e997d26f7db2d108e7ac89dcd6f317929f201f18e1fd9171de9902156b961f3f20c5711c7bddf2d4d0a16d0b14fb9d207561fc263"
     "03541c78b188e6feee0d6fe6dc0f2cbf448c",
     "ea", "c4b7f3f63c22bfeed8ed12afa2", 0,
     "", "40982f9aee02678ab3a36b26c0ffa4101c7ae39a14f755d1d885e8f4aa9d8416"},
    {GAMBESON_SLHDSA_SHAKE_256S,
     "e3e4b342f211a722c1c8b74d44a154a9e4a9d9a15e356974716f80b9bb439736c02e7d6e129882ce7f02645d8759dd9f33e423466d9656"
     "c7e5c79119d26c1c1f4976b5f89703ec1abb855d5a6553ddc3ff7a5b20f77cbb8c18cad76d853f52858f6a8f5fad0af2e6df203d7bb86d"
     "67e6427875d2e20e66276567cf888b02cc64",
     "f0", "02065ba48f20d3be97351859ed56128c4ff02032c6f6f41880ee530c8c7340d76cc261e7eff258198ecdace691a09dc5bb87", GAMBESON_PREHASH_SHA2_224,
     "", "d29fbf2480ae27afe94260e56b84b26a9cedf2741b500a872b647301096c67f1"},
    {GAMBESON_SLHDSA_SHA2_256F,
     "760a91eb234223f00f31deb8e82abde1cee2acde801e20b2d363a58ac9b1936021e8406266d9a262820b549dc0785588c3b39e02a6db84"
     "4cb885332fe89420c70c551e5a8d85111472d94a18959a7e70510c8a02339b7238ad9efa18bdb8a716e9b59484dc90bf96c04bb2fe09c8"
     "31ec5439bb0bee83d3faf1c67e7d39fb9ea7",
     "f4", "", 0,
     "1e0aae0652400e67c1b778669407f58c462b74de099802fdaa23b59dace50be8", "6f51aed4cf11a9794dcbbf4a5821d5b19f0c2e13515cb3862017bf2460fe1910"},
    {GAMBESON_SLHDSA_SHA2_256F,
     "6fca1055e16637ac4d829411f97b2b970edbdc0bf06b746b66f017344ec739de5b110fb1fca179b74a3cd713a81fd2d1b519fae7504423"
     "08a68e2d7f79cd48bef9f5928b06c2820be75c21f0820fb01db2653150edf0d49c6a8f620fc331fbaaec3c564b43d932e657680d190922"
     "a90a101602e891487b1db9ec089512a8ecd4",
     "41", "b8c6", GAMBESON_PREHASH_SHA2_256,
     "847d6c135a19b0cab9011abb479315291803cdcb5f237d6352c3a0e93744bbf7", "6380572d4fb65106c98a533209c81c13f369b7af5974ced764366345a86161b5"},
};

static const char lms_vk[] =
    "0000000a00000008d7953b6fb07eae18fbf3f7240c7bcfc9a66124e05bdc98891009ea718e64585ba505d01e9255891c";
static const char lms_message[] =
    "570da7853863797f1d88b0ee0bed2f90a8c0c2468eb66bcb41c56c603ae9e42f9076ff7a9bab5f89428259ccc5933d3e7abb2b26f3e815"
    "5787423097ecbb0177547681492ca94bd4e7b52fa40df30d715c591b3b6039a512bf2c24e77f463e712767bfd3059a9795f78c5f99fbd5"
    "83ac2ab0de2b2c28de144987e3c43f436146";
static const char lms_signature[] =
    "0000001a0000000842c5df9e6eccd00cef6cfa2c4db5c371941061bc76ca00c265c8853453e2fa9e22f9b8e990d27d590f6aa1ecdbb438"
    "27551541436ea81b743fc8857d2bf21253a0f08af8540921d486995a624c234e0aee92727908da3c6344ecbe2c5f15d05a9d9f065ef402"
    "b0926818a8d2d65e4e0a403644f7ed4f7c72e0620e354e993d02793ae8bbd027f0f5506a30db07be63fe79ca2eb91463eaaa0d6a74878c"
    "f5e4d2bec46a4aa03ce1bea516e6dba461706316953983e70e0088a31e7387d5a1351fb56e5468ae51fa7ff6977ee3bc517cb38199d47d"
    "9faf331eccb28e30cf15e158680050b2c85f4a943edd3fd5e6a9adf918d21f36ded9e9d9462050b77759cc2f5369c7c179f9c39f650d92"
    "37548b667f33bf2c7e61a22e44604eb56a5717838f351900a9ba2fe5b9a958fe6261fd130002992063f25a15c21a341a329f49d6591650"
    "351da1f9322f43f455e04cf9c7c72ba470cef982f5a9ba69c20a630fa07ca1e06660600851658abbe8c501d805ff79442bc7864952cba8"
    "4d96009104f1c5de40f4110ca7dd69bc1dfeedb44d5ca683f4329979fd56196bfa239806d02d047ecbd071ce1e54679457bd3cf2aa8f30"
    "e43c7bcf8466324a2df9bb88ee1f118572666f5b4239f7d678f64b6d022bb01eee550a0310942d75d372b19d4baf536adcc194adac54ac"
    "639b390fc12c55e097aa7b0191896fd59e36e7cbf0792646405e4a040fcc6b366f2b1f8da66f814c2ff3ad6b147d832e6fd9a4df0bc17b"
    "bbf40fb5797e410461ef726b99f5511f135fbbb5b92bc2994b7898729b31e93d84b3be5c074e05604c8b01f74dbe0c2e3cae91adc5370b"
    "9c7c9b47f29acaeb524c14f648189c90b1d8f0c6bbabd0b09b9ec92db965c48b231a841a8545288defe3c4660b45782772eada0000000a"
    "b0758db36deb396f5e9a7e20baaf60d286cd1dc525f8c658edd858f5fc7effdedd360ff084e1602fcfa19448f983a2bc0810d71cae7370"
    "fcdbda392f20cae34ea1922236abf736fbf5e5608d3ec41fe2c2bb46537cd54935dabda57d851dda83f2abb90c41f6e53ba655d85331ce"
    "6a30cdd14d509c004620";
static const char xmss_vk[] =
    "0000000ddfee7003383a9856b5a927ad8894838e63df18211e6b116dff80651b655440c29c4f8c44cff827186201048a795c23a7";
static const char xmss_message[] =
    "b338dd755d5618c464ab331f14de3dd4a358bba00d28fb35236741e902f7b248ce";
static const char xmss_signature[] =
    "00000000d4682686e4bc708328567694bbc69086bd1aa7abdb02b96ec681e846a4d195f39a1778dbc444c0efc1913d7f18c11574a52f39"
    "8ea01422342540b8dd40ef5a7f95b462f457bb8c1b9af469fa550580c6a8dea3b364dbec7c11dfcf71dfae8e413c1a1589b8ec1e840ebb"
    "2f37f24b3e9331c5c13f8b3b73c0766930d1703645214a8a9b28e580b1bd0a6c051d809018b239d5eaa5dd1dde5060b662dc5997ae84b7"
    "8290f8b13e6b4ab470321dbc8e30f62bbeb7a3fe083be727014e1f13ac06b85920818da1120929ba8ee3336bf89b45c57db634b524fe15"
    "ed395f6919ef0fc1fe5bcb12c478cdc8aa262dc4aad9b45fa6f1ade212a6e7a78988b7a5372e8e00ec3fbdafe00d7b60064b132d4a6526"
    "539a24c5ca5659d610851fb5fdaf08f1e65720745019c6505ac7ded6387adf498c25aa330837505d86566a3d01617067b9ac895d9f88b5"
    "cca99f2c28763af20770ee0c27d89b5ebfa1aafec65c6d64211d7ccde4958db702389d32f0a7bc08a141fd0989af84c20faf47000aa3fa"
    "596a1728dcc2e6e59336658ac65601a635cb5be10c2e6e46c0b128dc3d5f999751db25679736b0793e1cfbbf7cf8224d9e6a48c173352f"
    "8e0b8c4b94a42251ed4c07595d790076831aa749c476e13d7d2e7ed3ce2a872eb73e0739d20d3da934ef8de1b7c3b0a8b3eeda0112dc0a"
    "14b59edf322de876897e4b2b3af7967e80eb0f52c235bcf802e53ba73a738b277fc5029e1b7859d19ef39ac7ba4d14983684bdb1d3ad01"
    "ad74ce10739be6db38720d9c72d516855a5e75293e250edfef37239780cee7a812c9e2dc8b7a8630707248d518137873b08728e85ed8b4"
    "20b9c40614d204b073e52be35cdc8a54c0d5d94413a9890e068be915eda550fb654ae658dbaa9300244659ffd68b53f6a3e987ede8e93f"
    "edc2a188b41364f1ac068ca3b2761882755ad185e9cf286eec8fcc0f2c6144e464a73065c376bf868d423753bcdc24476b6b347c0d4706"
    "ebaccd8624ed05a8a6cd292dbf02293f7b8e87520153a4d484e10dae81505afbf1ad60fcba896be5dda4c3335add505b6956dad9d7be9f"
    "bea8d067d9c5e1102041576c1584f3a067839368e5ec784998fb60a6d029e333b8efe4a9cfe607873fab91fc070c5eb6a013939d832c0e"
    "fa885139a6312bf2a415b0b85f3573c6a2cc8fc4270daa29909d70a8a3a4807e2a22b5985837b183d907fc21c02e84e0baefb464b8deab"
    "1195a92ff583c08c20037f2d3410c637db3cb034c689b5fb46c3db55cd48f30298fa6fb74755dfd200c7dfa6bfbc98b5864491066ca36e"
    "a5a928189768e0d253131c38012c4c1a2ab6b34728dfe8fe586cbd4cc4782233f2e56c81fa452a8dc37152928a30261f4facc057bcc910"
    "8326366c4f5b4773e589ccf574fde739078f83277ef0aa60de831f156af362f69b60d8e6585af4aaea2ac7e7541691b63d15c727b66b87"
    "ac24e5352faf2e2f4f71639ab264ab3436d3a1d9abfadf758906fd82e4bb2e602eb8819558430426cd14e5f3555a5379041aec1e0a46f0"
    "68e9e827564b25fd13e0825c341e639320c9c07ca6502bcf857659e39f54ddcbdf12cc440aac2e404465656fbba6b44d457c259265008e"
    "1ba24f671a738575bf9e99dc75ebfcd61947c96912f1cc003ef7d6960b461a8d35687e198702adae606ab11dc89b437bdd61dda603c89e"
    "0dab6355c5b05b98546626b8981a8c6f852b10a31c0b4369cb7f3526a60d5a694c810350bc11669fac54d37d333d7d5226ebe3c2c662f1"
    "debc10c3e3a1e3757dc500612edb257fcd3b880f8d819a815cc288f5b7b09acbb658a489f767c79beabba8b5291c3134928d5f27c4645f"
    "afacf77c16dc7c70da356b9c24272a346aecdfaed955512133e303a7327c6f3ccf37cd6e2be5a858cdb88ee802152092dbdfe0cb8350d2"
    "b0cbec212549e24fb82c3a98ce1032c09344867163ad35dc45612c1f91a86c29aaba053bc329530415aaf376e55223aff201bb179895ad"
    "9cbe08c56f15fa72b9b49f16981e519a61fb2ef2eed066b67d5386c2d41b76bba61cb85e4cb4dab96203ff5a9edf880ddefe7b3fc94e73"
    "44f3c04454cd07";

// Bytes of a hexadecimal string, and their number.
static size_t bytes_of(uint8_t *out, const char *hex)
{
    size_t len = 0;
    for (; hex[2 * len]; len++) {
        int high = hex[2 * len], low = hex[2 * len + 1];
        out[len] = (uint8_t)((high <= '9' ? high - '0' : high - 'a' + 10) << 4 | (low <= '9' ? low - '0' : low - 'a' + 10));
    }
    return len;
}

// Security parameter n of a set, and the length of its signatures.
static size_t n_of(int set)
{
    return 16 + 8 * (size_t)((set - GAMBESON_SLHDSA_SHA2_128S) % 6 / 2);
}

static size_t signature_len(int set)
{
    static const size_t lengths[6] = {
        GAMBESON_SLHDSA_128S_SIGNATURE_BYTES, GAMBESON_SLHDSA_128F_SIGNATURE_BYTES, GAMBESON_SLHDSA_192S_SIGNATURE_BYTES,
        GAMBESON_SLHDSA_192F_SIGNATURE_BYTES, GAMBESON_SLHDSA_256S_SIGNATURE_BYTES, GAMBESON_SLHDSA_256F_SIGNATURE_BYTES,
    };
    return lengths[(set - GAMBESON_SLHDSA_SHA2_128S) % 6];
}

static uint8_t signature[GAMBESON_SLHDSA_256F_SIGNATURE_BYTES];

static void answers_slhdsa(int all)
{
    uint8_t vk[GAMBESON_SLHDSA_256_VK_BYTES], sk[GAMBESON_SLHDSA_256_SK_BYTES], seeds[GAMBESON_SLHDSA_256_SEED_BYTES];
    uint8_t message[1], context[255], randomness[32], digest[64];
    gambeson_prehash_ctx hash;
    for (int i = 0; i < 12; i++) {
        int set = keys[i].set;
        size_t n = n_of(set);
        if (!all && signature_len(set) != GAMBESON_SLHDSA_128F_SIGNATURE_BYTES) continue;
        CHECK(bytes_of(seeds, keys[i].seeds) == 3 * n);
        CHECK(!gambeson_slhdsa_keypair(set, vk, 2 * n, sk, 4 * n, GIVEN(seeds, 3 * n)));
        CHECK(same(sk, seeds, 3 * n) && same(vk, sk + 2 * n, 2 * n) && is(vk + n, keys[i].root));
    }
    for (int i = 0; i < 16; i++) {
        static const size_t lengths[13] = {0, 32, 48, 64, 28, 28, 32, 28, 32, 48, 64, 32, 64};
        int set = signatures[i].set, prehash = signatures[i].prehash;
        size_t n = n_of(set), len = signature_len(set), context_len = bytes_of(context, signatures[i].context);
        if (!all && len != GAMBESON_SLHDSA_128F_SIGNATURE_BYTES) continue;
        CHECK(bytes_of(sk, signatures[i].sk) == 4 * n && bytes_of(message, signatures[i].message) == 1);
        gambeson_message described = *PURE(message, 1, context, context_len);
        if (prehash) {
            CHECK(!gambeson_prehash_init(&hash, prehash) && !gambeson_prehash_update(&hash, message, 1));
            CHECK(!gambeson_prehash_final(&hash, digest, lengths[prehash]));
            described = *PREHASHED(prehash, digest, lengths[prehash], context, context_len);
        }
        const uint8_t *rnd = bytes_of(randomness, signatures[i].randomness) ? randomness : sk + 2 * n;
        CHECK(!gambeson_slhdsa_sign(set, signature, len, &described, sk, 4 * n, GIVEN(rnd, n)));
        CHECK(!gambeson_prehash_init(&hash, GAMBESON_PREHASH_SHA2_256) && !gambeson_prehash_update(&hash, signature, len));
        uint8_t of_signature[32];
        CHECK(!gambeson_prehash_final(&hash, of_signature, 32) && is(of_signature, signatures[i].sha256));
        CHECK(!gambeson_slhdsa_verify(set, signature, len, &described, sk + 2 * n, 2 * n));
        signature[len / 2] ^= 1;
        CHECK(gambeson_slhdsa_verify(set, signature, len, &described, sk + 2 * n, 2 * n) == GAMBESON_ERROR_SIGNATURE);
    }
}

#define SET GAMBESON_SLHDSA_SHAKE_128F
#define LEN GAMBESON_SLHDSA_128F_SIGNATURE_BYTES

static int broken(void *ctx, uint8_t *out, size_t len)
{
    (void)ctx, (void)out, (void)len;
    return 7;
}

static void misuse_of_slhdsa(void)
{
    uint8_t vk[32], sk[64], message[256] = {3}, rnd[16] = {4};
    int calls = 0;
    CHECK(!gambeson_slhdsa_keypair(SET, vk, 32, sk, 64, WITH(fill, &calls)) && calls == 1);
    CHECK(!gambeson_slhdsa_sign(SET, signature, LEN, PURE(message, 3, message, 255), sk, 64, NULL));
    CHECK(!gambeson_slhdsa_verify(SET, signature, LEN, PURE(message, 3, message, 255), vk, 32));
    CHECK(gambeson_slhdsa_verify(SET, signature, LEN, PURE(message, 3, message, 254), vk, 32) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_slhdsa_verify(SET, signature, LEN, PURE(message, 3, message, 256), vk, 32) == GAMBESON_ERROR_CONTEXT);
    CHECK(gambeson_slhdsa_verify(SET, signature, LEN, MU(message), vk, 32) == GAMBESON_ERROR_DESCRIPTOR);
    CHECK(gambeson_slhdsa_verify(SET, signature, LEN, PREHASHED(13, message, 32, NULL, 0), vk, 32) == GAMBESON_ERROR_PREHASH);
    CHECK(gambeson_slhdsa_verify(SET, signature, LEN, PREHASHED(1, message, 31, NULL, 0), vk, 32) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_slhdsa_verify(SET, signature, LEN - 1, PURE(message, 3, NULL, 0), vk, 32) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_slhdsa_verify(SET, signature, LEN, PURE(message, 3, NULL, 0), vk, 33) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_slhdsa_verify(SET, signature, LEN, PURE(message, 3, NULL, 0), vk, 0) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_slhdsa_verify(SET, NULL, LEN, PURE(message, 3, NULL, 0), vk, 32) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_slhdsa_verify(SET, signature, LEN, NULL, vk, 32) == GAMBESON_ERROR_NULL);
    // A set of another family, and numbers that no set has.
    CHECK(gambeson_slhdsa_verify(GAMBESON_SLHDSA_SHA2_128F, signature, LEN, PURE(message, 3, message, 255), vk, 32) ==
          GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_slhdsa_verify(19, signature, LEN, PURE(message, 3, NULL, 0), vk, 32) == GAMBESON_ERROR_SET);
    CHECK(gambeson_slhdsa_sign(32, signature, LEN, PURE(message, 3, NULL, 0), sk, 64, NULL) == GAMBESON_ERROR_SET);
    CHECK(gambeson_slhdsa_keypair(-1, vk, 32, sk, 64, NULL) == GAMBESON_ERROR_SET);

    CHECK(gambeson_slhdsa_keypair(SET, vk, 31, sk, 64, NULL) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_slhdsa_keypair(SET, vk, 32, sk, 65, NULL) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_slhdsa_keypair(SET, vk, 32, NULL, 64, NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_slhdsa_keypair(SET, sk + 32, 32, sk, 64, NULL) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_slhdsa_keypair(SET, vk, 32, sk, 64, WITH(broken, NULL)) == GAMBESON_ERROR_RANDOM);
    CHECK(gambeson_slhdsa_keypair(SET, vk, 32, sk, 64, GIVEN(message, 47)) == GAMBESON_ERROR_LENGTH);
    CHECK(!gambeson_slhdsa_keypair(SET, vk, 32, sk, 64, GIVEN(message, 48)));

    CHECK(gambeson_slhdsa_sign(SET, signature, LEN + 1, PURE(message, 3, NULL, 0), sk, 64, NULL) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_slhdsa_sign(SET, signature, LEN, PURE(message, 3, NULL, 0), sk, 63, NULL) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_slhdsa_sign(SET, signature, LEN, PURE(message, 3, NULL, 0), sk, 64, GIVEN(rnd, 15)) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_slhdsa_sign(SET, signature, LEN, PURE(message, 3, NULL, 0), sk, 64, WITH(broken, NULL)) == GAMBESON_ERROR_RANDOM);
    CHECK(gambeson_slhdsa_sign(SET, signature, LEN, PURE(signature, 3, NULL, 0), sk, 64, NULL) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_slhdsa_sign(SET, signature, LEN, MU(message), sk, 64, NULL) == GAMBESON_ERROR_DESCRIPTOR);
    // PK.root that is not of the seeds.
    sk[63] ^= 1;
    CHECK(gambeson_slhdsa_sign(SET, signature, LEN, PURE(message, 3, NULL, 0), sk, 64, NULL) == GAMBESON_ERROR_KEY);
}

// A signature in memory as a function gives it, and the bytes of it that were read.
typedef struct flash { const uint8_t *bytes; size_t len, read, longest; } flash;

static int next(void *ctx, size_t offset, uint8_t *out, size_t len)
{
    flash *from = ctx;
    if (offset + len > from->len) return 7;
    for (size_t i = 0; i < len; i++) out[i] = from->bytes[offset + i];
    if (offset + len > from->read) from->read = offset + len;
    if (len > from->longest) from->longest = len;
    return 0;
}

static void streamed_slhdsa(void)
{
    uint8_t vk[32], sk[64], message[3] = {3}, seeds[48] = {5};
    CHECK(!gambeson_slhdsa_keypair(SET, vk, 32, sk, 64, GIVEN(seeds, 48)));
    CHECK(!gambeson_slhdsa_sign(SET, signature, LEN, PURE(message, 3, NULL, 0), sk, 64, NULL));
    flash whole = {signature, sizeof signature, 0, 0}, cut = {signature, LEN - 1, 0, 0};
    CHECK(!gambeson_slhdsa_verify_streamed(SET, next, &whole, PURE(message, 3, NULL, 0), vk, 32));
    CHECK(whole.read == LEN && whole.longest == 16);
    CHECK(gambeson_slhdsa_verify_streamed(SET, next, &cut, PURE(message, 3, NULL, 0), vk, 32) == GAMBESON_ERROR_READ);
    CHECK(gambeson_slhdsa_verify_streamed(SET, next, &whole, PURE(message, 2, NULL, 0), vk, 32) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_slhdsa_verify_streamed(SET, NULL, NULL, PURE(message, 3, NULL, 0), vk, 32) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_slhdsa_verify_streamed(19, next, &whole, PURE(message, 3, NULL, 0), vk, 32) == GAMBESON_ERROR_SET);
    CHECK(gambeson_slhdsa_verify_streamed(SET, next, &whole, PURE(message, 3, NULL, 0), vk, 31) == GAMBESON_ERROR_LENGTH);
}

// A signature by LMS, and the one of HSS with one level that has it: both begin with four bytes more.
static void lms(void)
{
    static uint8_t of_tree[1296], message[200];
    uint8_t vk[60] = {0, 0, 0, 1};
    size_t vk_len = 4 + bytes_of(vk + 4, lms_vk), message_len = bytes_of(message, lms_message);
    size_t len = 4 + bytes_of(of_tree + 4, lms_signature);
    CHECK(!gambeson_lms_verify(of_tree + 4, len - 4, message, message_len, vk + 4, vk_len - 4));
    CHECK(!gambeson_hss_verify(of_tree, len, message, message_len, vk, vk_len));
    CHECK(gambeson_lms_verify(of_tree + 4, len - 4, message, message_len - 1, vk + 4, vk_len - 4) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_hss_verify(of_tree, len, message, message_len - 1, vk, vk_len) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_lms_verify(of_tree + 4, len - 5, message, message_len, vk + 4, vk_len - 4) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_hss_verify(of_tree, len - 1, message, message_len, vk, vk_len) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_hss_verify(NULL, 0, message, message_len, vk, vk_len) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_lms_verify(NULL, len - 4, message, message_len, vk + 4, vk_len - 4) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_hss_verify(of_tree, len, NULL, message_len, vk, vk_len) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_lms_verify(of_tree + 4, len - 4, message, message_len, vk + 4, vk_len - 5) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_hss_verify(of_tree, len, message, message_len, vk, 3) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_lms_verify(of_tree + 4, len - 4, message, message_len, NULL, 0) == GAMBESON_ERROR_LENGTH);
    flash tree = {of_tree + 4, sizeof of_tree - 4, 0, 0}, levels = {of_tree, sizeof of_tree, 0, 0}, cut = {of_tree, len - 1, 0, 0};
    CHECK(!gambeson_lms_verify_streamed(next, &tree, message, message_len, vk + 4, vk_len - 4) && tree.read == len - 4);
    CHECK(!gambeson_hss_verify_streamed(next, &levels, message, message_len, vk, vk_len) && levels.read == len);
    CHECK(gambeson_hss_verify_streamed(next, &cut, message, message_len, vk, vk_len) == GAMBESON_ERROR_READ);
    CHECK(gambeson_lms_verify_streamed(next, &tree, message, 1, vk + 4, vk_len - 4) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_hss_verify_streamed(next, &levels, message, 1, vk, vk_len) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_lms_verify_streamed(NULL, &tree, message, message_len, vk + 4, vk_len - 4) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_hss_verify_streamed(next, &levels, message, message_len, vk, 3) == GAMBESON_ERROR_LENGTH);
    // One bit more in the number of levels, in each type, in a chain, in the path.
    vk[3] = 0;
    CHECK(gambeson_hss_verify(of_tree, len, message, message_len, vk, vk_len) == GAMBESON_ERROR_KEY);
    vk[3] = 9;
    CHECK(gambeson_hss_verify(of_tree, len, message, message_len, vk, vk_len) == GAMBESON_ERROR_KEY);
    vk[3] = 8;
    CHECK(gambeson_hss_verify(of_tree, len, message, message_len, vk, vk_len) == GAMBESON_ERROR_SIGNATURE);
    vk[7] ^= 0x40;
    CHECK(gambeson_lms_verify(of_tree + 4, len - 4, message, message_len, vk + 4, vk_len - 4) == GAMBESON_ERROR_KEY);
    vk[7] ^= 0x40, vk[11] ^= 0x40;
    CHECK(gambeson_lms_verify(of_tree + 4, len - 4, message, message_len, vk + 4, vk_len - 4) == GAMBESON_ERROR_KEY);
    vk[11] ^= 0x40, vk[3] = 1;
    const size_t places[] = {0, 4, 8, 100, len - 1};
    for (int i = 0; i < 5; i++) {
        of_tree[places[i]] ^= 1;
        CHECK(gambeson_hss_verify(of_tree, len, message, message_len, vk, vk_len) == GAMBESON_ERROR_SIGNATURE);
        of_tree[places[i]] ^= 1;
    }
    CHECK(!gambeson_hss_verify(of_tree, len, message, message_len, vk, vk_len));
}

static void xmss(void)
{
    static uint8_t signed_leaf[1492], message[33];
    uint8_t vk[52];
    size_t vk_len = bytes_of(vk, xmss_vk), message_len = bytes_of(message, xmss_message), len = bytes_of(signed_leaf, xmss_signature);
    CHECK(!gambeson_xmss_verify(signed_leaf, len, message, message_len, vk, vk_len));
    CHECK(gambeson_xmss_verify(signed_leaf, len, message, message_len - 1, vk, vk_len) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_xmss_verify(signed_leaf, len - 1, message, message_len, vk, vk_len) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_xmss_verify(signed_leaf, len, message, message_len, vk, vk_len - 1) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_xmss_verify(signed_leaf, len, message, message_len, vk, 3) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_xmss_verify(NULL, len, message, message_len, vk, vk_len) == GAMBESON_ERROR_NULL);
    flash whole = {signed_leaf, sizeof signed_leaf, 0, 0}, cut = {signed_leaf, len - 1, 0, 0};
    CHECK(!gambeson_xmss_verify_streamed(next, &whole, message, message_len, vk, vk_len) && whole.read == len && whole.longest == 24);
    CHECK(gambeson_xmss_verify_streamed(next, &cut, message, message_len, vk, vk_len) == GAMBESON_ERROR_READ);
    CHECK(gambeson_xmss_verify_streamed(next, &whole, message, 1, vk, vk_len) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_xmss_verify_streamed(NULL, &whole, message, message_len, vk, vk_len) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_xmss_verify_streamed(next, &whole, message, message_len, vk, 3) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_xmssmt_verify_streamed(next, &whole, message, message_len, vk, vk_len) == GAMBESON_ERROR_LENGTH);
    // The set of XMSS^MT with this OID has keys of 68 bytes.
    CHECK(gambeson_xmssmt_verify(signed_leaf, len, message, message_len, vk, vk_len) == GAMBESON_ERROR_LENGTH);
    // XMSSMT-SHA2_20/2_192, whose signatures are longer.
    vk[3] = 0x21;
    CHECK(gambeson_xmssmt_verify(signed_leaf, len, message, message_len, vk, vk_len) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_xmssmt_verify_streamed(next, &whole, message, message_len, vk, vk_len) == GAMBESON_ERROR_READ);
    CHECK(gambeson_xmss_verify(signed_leaf, len, message, message_len, vk, vk_len) == GAMBESON_ERROR_KEY);
    vk[3] = 0;
    CHECK(gambeson_xmssmt_verify(signed_leaf, len, message, message_len, vk, vk_len) == GAMBESON_ERROR_KEY);
    vk[3] = 0x0d;
    const size_t places[] = {0, 3, 4, 100, len - 1};
    for (int i = 0; i < 5; i++) {
        signed_leaf[places[i]] ^= 1;
        CHECK(gambeson_xmss_verify(signed_leaf, len, message, message_len, vk, vk_len) == GAMBESON_ERROR_SIGNATURE);
        signed_leaf[places[i]] ^= 1;
    }
    CHECK(!gambeson_xmss_verify(signed_leaf, len, message, message_len, vk, vk_len));
}

void hash_based(int all)
{
    answers_slhdsa(all);
    misuse_of_slhdsa();
    streamed_slhdsa();
    lms();
    xmss();
}
