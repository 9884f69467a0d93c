{ Waits and clocks as a Free Pascal program calls them. The protocol is in ../PROTOCOL.md. }
program Probe;

{$mode objfpc}{$H+}

uses
  {$ifdef unix}cthreads, {$endif}
  sysutils, dateutils, ProbeLines, Waits, ForkJoins;

const
  Reads = 1000;

type
  TClock = function: Int64;

  TNamedClock = record
    Name: string;
    Read: TClock;
  end;

var
  Sink: Int64;

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
  Clocks: array[0..1] of TNamedClock = (
    (Name: 'GetTickCount64'; Read: @CallTickCount),
    (Name: 'Now'; Read: @CallNow));

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
  for I := 0 to High(NamedWaits) do
    if NamedWaits[I].Name = Parts[0] then
    begin
      MeasureWait(NamedWaits[I], Requested, Count);
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
  for I := 0 to High(NamedWaits) do
    Emit(Format('"type":"op","op":"%s","kind":"wait"', [NamedWaits[I].Name]));
  for I := 0 to High(Works) do
    Emit(Format('"type":"op","op":"%s","kind":"work"', [Works[I]]));
  for I := 0 to High(Clocks) do
    Emit(Format('"type":"op","op":"%s","kind":"clock"', [Clocks[I].Name]));
end;

var
  I: Integer;
begin
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
