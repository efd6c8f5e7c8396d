# Tests of each program that need the lab: they choose a strategy by header, or stop a request before its COMMIT. They are left out
# where FESTA_LAB is OFF, together with the folders of that name, and on the program that is linked without the lab.
set(LAB_TESTS_http
  *PinRushHolds*:*PinRushBreaks*:PinStorm.FestivalsDoNotBlockEachOther:PinStorm.WaitersBeyondTheLimitAreTurnedAwayAtOnce
  PinStorm.AWaiterThatWaitsInVainGetsLockTimeout:ThreeInstances.*:LabTools.*:RaceTest.*:RaceWhileStopping.*:RaceOnSeveralInstances.*
  ClaimApi.*:ClaimEvents.*:ClaimStreamLimits.*:LocalClaimQueue.AcceptedClaimsSurviveAKillInOrder
  LocalClaimQueue.AStopFinishesTheWorkThatHasBegun:LocalClaimQueue.UnfinishedClaimsExpireAndTheirUnitsReturn
  Door.FourRequestsOfAConnectionAreReadAhead:Drain.HoldersFinishAndWaitersAreTurnedAwayWithAClosedConnection:Drain.EndsAPause*
  Drain.PipelinedWritesFromBeforeTheStopAreAllAnswered:Drain.PipelinedWritesThatWaitForALockAreAllAnswered
  Drain.RequestsWhoseClientHasGoneCountAsUnanswered:Drain.PastItsLimitTheProcessEndsWithStatusZero
  HalfClose.*:BehindHaProxy.EventsArriveWhenTheyHappen:Limits.RequestsBeyondTheBoundAreTurnedAwayAndOperatorsAreNot
  StreamBounds.OneAddressHasSoManyStreamsOfAllKinds:UnknownException.*:LockAdminTest.*:FleetTest.*:Renewals.*:SeatLock.*
  Overview.ShowsAHolderThatStays:StartTest.DatabaseTheLabHasUsedIsRefusedByProductionLater
  StartTest.NeededServersAreNamedOneInEachLine:PagesTest.APageKnowsTheModesOfItsInstance
  Idempotency.RepetitionsDuringTheFirstAttemptGetRequestInProgress:Idempotency.AnExpiredAttemptIsTakenOverAndHasNoEffectItself
  Idempotency.ARepetitionWhileTheFirstAttemptWaitsForItsLockGetsRequestInProgress)
set(LAB_TESTS_rush *Rush*:ThreeCouponCounters.*:ThreeCounters.SellEverySeatOnceByEverySharedStrategyAlone)
set(LAB_TESTS_claims *)
set(LAB_TESTS_chaos PostgresChaos.*:SessionsChaos.*:DoorCrowd.*)
string(REPLACE ";" ":" LAB_TESTS_http "${LAB_TESTS_http}")
