package io.espalier.cli.architecture.crowd;

/** One type more than a package may have, all of them in this file. */
interface Crowd {}

interface One {}

interface Two {}

interface Three {}

interface Four {}

interface Five {}

interface Six {}

interface Seven {}

interface Eight {}

interface Nine {}

interface Ten {}

interface Eleven {}

interface Twelve {}

interface Thirteen {}

interface Fourteen {}

interface Fifteen {}

interface Sixteen {}

interface Seventeen {}

interface Eighteen {}

interface Nineteen {}

interface Twenty {}

interface TwentyOne {}

interface TwentyTwo {}

interface TwentyThree {}

interface TwentyFour {}

interface TwentyFive {}

interface TwentySix {}

interface TwentySeven {}

interface TwentyEight {}

interface TwentyNine {}

interface Thirty {}
