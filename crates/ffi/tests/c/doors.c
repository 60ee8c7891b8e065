// What the known answers leave out: the calls that draw randomness, of every set in both schedules.

#include "checks.h"

#define set mlkem512
#define plain mlkem512
#define SET MLKEM512
#include "doors_mlkem.h"
#define set mlkem768
#define plain mlkem768
#define SET MLKEM768
#include "doors_mlkem.h"
#define set mlkem1024
#define plain mlkem1024
#define SET MLKEM1024
#include "doors_mlkem.h"

#define set small_mlkem512
#define plain mlkem512
#define SET MLKEM512
#include "doors_mlkem.h"
#define set small_mlkem768
#define plain mlkem768
#define SET MLKEM768
#include "doors_mlkem.h"
#define set small_mlkem1024
#define plain mlkem1024
#define SET MLKEM1024
#include "doors_mlkem.h"

#define set mldsa44
#define plain mldsa44
#define SET MLDSA44
#include "doors_mldsa.h"
#define set mldsa65
#define plain mldsa65
#define SET MLDSA65
#include "doors_mldsa.h"
#define set mldsa87
#define plain mldsa87
#define SET MLDSA87
#include "doors_mldsa.h"

#define set small_mldsa44
#define plain mldsa44
#define SET MLDSA44
#include "doors_mldsa.h"
#define set small_mldsa65
#define plain mldsa65
#define SET MLDSA65
#include "doors_mldsa.h"
#define set small_mldsa87
#define plain mldsa87
#define SET MLDSA87
#include "doors_mldsa.h"

void doors(void)
{
    doors_mlkem512(), doors_mlkem768(), doors_mlkem1024();
    doors_small_mlkem512(), doors_small_mlkem768(), doors_small_mlkem1024();
    doors_mldsa44(), doors_mldsa65(), doors_mldsa87();
    doors_small_mldsa44(), doors_small_mldsa65(), doors_small_mldsa87();
}
