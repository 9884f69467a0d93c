{ The work of the investigation of GetTickCount64: threads that compute and are joined, and one that computes alone. }
unit ForkJoins;

{$mode objfpc}{$H+}

interface

const
  ForkJoin = 'fork-join';
  { The main thread looks every 100 ms for a thread that has not finished when it asks. }
  ForkWaitFor = 'fork-join(WaitFor)';
  Works: array[0..2] of string = (ForkJoin, ForkWaitFor, 'single-threaded');

procedure MeasureWork(const Op: string; Requested: Int64; Count: Integer);

implementation

uses
  sysutils, ProbeLines, Workers;

const
  ForkThreads = 8;

var
  UnitsPerMs: Int64;

{ The fastest of several spans counts: another process may run in the middle of one. }
procedure Calibrate;
var
  Begun, Units, Took: Int64;
  Spans: Integer;
begin
  Units := 1000;
  Spans := 0;
  repeat
    Begun := NowNs;
    Compute(Units);
    Took := NowNs - Begun;
    if Took > 2 * Milli then
    begin
      Inc(Spans);
      if Units * Milli div Took > UnitsPerMs then
        UnitsPerMs := Units * Milli div Took;
    end;
    { Shorter than 2 ms at the best rate seen: that span was cut in two by another process. }
    if (Took <= 2 * Milli) or (Units < UnitsPerMs * 2) then
      Units := Units * 2;
  until (Spans >= 8) and (Units >= UnitsPerMs * 2);
end;

{ 10 to 20 ms of work, where the mean is what was requested. }
function Piece(Requested: Int64): Int64;
begin
  Result := UnitsPerMs * Requested div Milli * (200 + Random(201)) div 300;
end;

{ Forks threads that compute, and joins them: by asking every millisecond whether all have finished, or one by one. }
procedure ForkAndJoin(Requested: Int64; ByWaitFor: Boolean);
var
  Workers: array[0..ForkThreads - 1] of TWorker;
  Running: Boolean;
  K: Integer;
begin
  for K := 0 to ForkThreads - 1 do
    Workers[K] := Started(0, Piece(Requested));
  if not ByWaitFor then
    repeat
      Running := False;
      for K := 0 to ForkThreads - 1 do
        Running := Running or not Workers[K].Finished;
      if Running then
        SysUtils.Sleep(1);
    until not Running;
  for K := 0 to ForkThreads - 1 do
  begin
    Workers[K].WaitFor;
    Workers[K].Free;
  end;
end;

procedure MeasureWork(const Op: string; Requested: Int64; Count: Integer);
var
  T, D, Coarse: TValues;
  Tick: Int64;
  I: Integer;
begin
  T := nil;
  D := nil;
  Coarse := nil;
  SetLength(T, Count);
  SetLength(D, Count);
  SetLength(Coarse, Count);
  if UnitsPerMs = 0 then
    Calibrate;
  RandSeed := 1;
  for I := 0 to Count - 1 do
  begin
    Tick := ReadTickCount;
    T[I] := NowNs;
    if Op = 'single-threaded' then
      Compute(Piece(Requested))
    else
      ForkAndJoin(Requested, Op = ForkWaitFor);
    D[I] := NowNs - T[I];
    Coarse[I] := ReadTickCount - Tick;
  end;
  Report(Op, '', Requested, Requested, T, D);
  Report(Op, 'GetTickCount64', Requested, Requested, T, Coarse);
end;

end.
