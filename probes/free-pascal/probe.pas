{ Waits and clocks as a Free Pascal program calls them. The protocol is in ../PROTOCOL.md. }
program Probe;

{$mode objfpc}{$H+}

uses
  {$ifdef unix}cthreads, baseunix, unixtype, {$endif}
  {$ifdef linux}linux, {$endif}
  {$ifdef windows}windows, {$endif}
  classes, sysutils, syncobjs, dateutils;

const
  Milli = 1000000;
  Reads = 1000;
  ForkThreads = 8;

type
  TValues = array of Int64;
  TWait = procedure(Ms: Cardinal);
  TClock = function: Int64;

  TNamedWait = record
    Name: string;
    Wait: TWait;
  end;

  TNamedClock = record
    Name: string;
    Read: TClock;
  end;

  { A thread that waits, or computes. }
  TWorker = class(TThread)
    Ms: Cardinal;
    Units: Int64;
    procedure Execute; override;
  end;

var
  Event: TEvent;
  RtlEvent: PRTLEvent;
  UnitsPerMs: Int64;
  Sink: Int64;

function NowNs: Int64;
{$ifdef linux}
var
  T: TTimeSpec;
begin
  clock_gettime(CLOCK_MONOTONIC, @T);
  Result := Int64(T.tv_sec) * 1000000000 + T.tv_nsec;
end;
{$else}{$ifdef windows}
var
  Ticks, PerSecond: Int64;
begin
  QueryPerformanceCounter(Ticks);
  QueryPerformanceFrequency(PerSecond);
  Result := (Ticks div PerSecond) * 1000000000 + (Ticks mod PerSecond) * 1000000000 div PerSecond;
end;
{$else}
begin
  Result := Int64(GetTickCount64) * Milli;
end;
{$endif}{$endif}

procedure Compute(Units: Int64);
var
  I, Sum: Int64;
begin
  Sum := Sink;
  I := 0;
  while I < Units do
  begin
    Sum := Sum * 31 + I;
    Inc(I);
  end;
  Sink := Sum;
end;

procedure TWorker.Execute;
begin
  if Units > 0 then
    Compute(Units)
  else
    SysUtils.Sleep(Ms);
end;

function Started(Ms: Cardinal; Units: Int64): TWorker;
begin
  Result := TWorker.Create(True);
  Result.Ms := Ms;
  Result.Units := Units;
  Result.Start;
end;

procedure DoSleep(Ms: Cardinal);
begin
  SysUtils.Sleep(Ms);
end;

procedure DoThreadSleep(Ms: Cardinal);
begin
  TThread.Sleep(Ms);
end;

procedure DoEvent(Ms: Cardinal);
begin
  Event.WaitFor(Ms);
end;

procedure DoRtlEvent(Ms: Cardinal);
begin
  RTLEventWaitFor(RtlEvent, Ms);
end;

{ The main thread waits for one that sleeps. }
procedure DoJoin(Ms: Cardinal);
var
  Worker: TWorker;
begin
  Worker := Started(Ms, 0);
  Worker.WaitFor;
  Worker.Free;
end;

function ReadTickCount: Int64;
begin
  Result := Int64(GetTickCount64) * Milli;
end;

function ReadNow: Int64;
begin
  Result := DateTimeToUnix(Now) * 1000000000 + Int64(MilliSecondOf(Now)) * Milli;
end;

{ What is timed is one call. }
function CallTickCount: Int64;
begin
  Result := Int64(GetTickCount64);
end;

function CallNow: Int64;
begin
  Result := Round(Now);
end;

const
  Waits: array[0..4] of TNamedWait = (
    (Name: 'Sleep'; Wait: @DoSleep),
    (Name: 'TThread.Sleep'; Wait: @DoThreadSleep),
    (Name: 'TEvent.WaitFor'; Wait: @DoEvent),
    (Name: 'RTLEventWaitFor'; Wait: @DoRtlEvent),
    (Name: 'TThread.WaitFor'; Wait: @DoJoin));
  ForkJoin = 'fork-join';
  { The main thread looks every 100 ms for a thread that has not finished when it asks. }
  ForkWaitFor = 'fork-join(WaitFor)';
  Works: array[0..2] of string = (ForkJoin, ForkWaitFor, 'single-threaded');
  Clocks: array[0..1] of TNamedClock = (
    (Name: 'GetTickCount64'; Read: @CallTickCount),
    (Name: 'Now'; Read: @CallNow));

procedure Emit(const Fields: string);
begin
  Write('{', Fields, '}'#10);
  Flush(Output);
end;

function List(const Values: TValues): string;
var
  I: Integer;
begin
  Result := '[';
  for I := 0 to High(Values) do
  begin
    if I > 0 then
      Result := Result + ',';
    Result := Result + IntToStr(Values[I]);
  end;
  Result := Result + ']';
end;

procedure Report(const Op, By: string; Requested, Rounded: Int64; const T, D: TValues);
var
  Clock: string;
begin
  Clock := '';
  if By <> '' then
    Clock := ',"by":"' + By + '"';
  Emit(Format('"type":"s","op":"%s"%s,"requested":%d,"rounded":%d,"n":%d,"unit":"ns","t":%s,"d":%s',
    [Op, Clock, Requested, Rounded, Length(D), List(T), List(D)]));
end;

procedure MeasureWait(const Wait: TNamedWait; Requested: Int64; Count: Integer);
var
  T, D, Coarse: TValues;
  Tick: Int64;
  Ms: Cardinal;
  I: Integer;
begin
  T := nil;
  D := nil;
  Coarse := nil;
  SetLength(T, Count);
  SetLength(D, Count);
  SetLength(Coarse, Count);
  Ms := Requested div Milli;
  for I := 0 to Count - 1 do
  begin
    Tick := ReadTickCount;
    T[I] := NowNs;
    Wait.Wait(Ms);
    D[I] := NowNs - T[I];
    Coarse[I] := ReadTickCount - Tick;
  end;
  Report(Wait.Name, '', Requested, Int64(Ms) * Milli, T, D);
  if Wait.Name = 'Sleep' then
    Report(Wait.Name, 'GetTickCount64', Requested, Int64(Ms) * Milli, T, Coarse);
end;

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

procedure MeasureClock(const Clock: TNamedClock; Count: Integer);
var
  D, Steps: TValues;
  Begun, Last, Next, EndAt: Int64;
  I, K: Integer;
begin
  D := nil;
  Steps := nil;
  SetLength(D, Count);
  for I := 0 to Count - 1 do
  begin
    Begun := NowNs;
    for K := 1 to Reads do
      Sink := Clock.Read();
    D[I] := NowNs - Begun;
  end;
  EndAt := NowNs + 40 * Milli;
  if Clock.Name = 'Now' then
    Last := ReadNow
  else
    Last := ReadTickCount;
  while (Length(Steps) < 16) and (NowNs < EndAt) do
  begin
    if Clock.Name = 'Now' then
      Next := ReadNow
    else
      Next := ReadTickCount;
    if Next > Last then
    begin
      SetLength(Steps, Length(Steps) + 1);
      Steps[High(Steps)] := Next - Last;
    end;
    Last := Next;
  end;
  Emit(Format('"type":"c","op":"%s","n":%d,"reads":%d,"d":%s,"step":%s',
    [Clock.Name, Count, Reads, List(D), List(Steps)]));
end;

procedure Run(const Token: string);
var
  Parts: TStringArray;
  Requested: Int64;
  Count, I: Integer;
begin
  Parts := Token.Split(['@']);
  if Length(Parts) <> 3 then
    Exit;
  Requested := StrToInt64(Parts[1]);
  Count := StrToInt(Parts[2]);
  for I := 0 to High(Waits) do
    if Waits[I].Name = Parts[0] then
    begin
      MeasureWait(Waits[I], Requested, Count);
      Exit;
    end;
  for I := 0 to High(Works) do
    if Works[I] = Parts[0] then
    begin
      MeasureWork(Works[I], Requested, Count);
      Exit;
    end;
  for I := 0 to High(Clocks) do
    if Clocks[I].Name = Parts[0] then
    begin
      MeasureClock(Clocks[I], Count);
      Exit;
    end;
  Emit(Format('"type":"skip","op":"%s","why":"Free Pascal has no such call"', [Parts[0]]));
end;

procedure Names;
var
  I: Integer;
begin
  for I := 0 to High(Waits) do
    Emit(Format('"type":"op","op":"%s","kind":"wait"', [Waits[I].Name]));
  for I := 0 to High(Works) do
    Emit(Format('"type":"op","op":"%s","kind":"work"', [Works[I]]));
  for I := 0 to High(Clocks) do
    Emit(Format('"type":"op","op":"%s","kind":"clock"', [Clocks[I].Name]));
end;

var
  I: Integer;
begin
  Event := TEvent.Create(nil, True, False, '');
  RtlEvent := RTLEventCreate;
  for I := 1 to 3 do
    SysUtils.Sleep(1);
  Emit(Format('"type":"hello","proto":1,"runtime":"free-pascal","version":"%s","clock":"CLOCK_MONOTONIC","pid":%d,"now":%d',
    [{$I %FPCVERSION%}, Int64(GetProcessID), NowNs]));
  for I := 1 to ParamCount do
    if ParamStr(I) = 'list' then
      Names
    else
      Run(ParamStr(I));
  Emit(Format('"type":"end","now":%d', [NowNs]));
end.
