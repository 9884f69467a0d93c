{ The waits of Free Pascal, and how they are timed. }
unit Waits;

{$mode objfpc}{$H+}

interface

type
  TWait = procedure(Ms: Cardinal);

  TNamedWait = record
    Name: string;
    Wait: TWait;
  end;

procedure DoSleep(Ms: Cardinal);
procedure DoThreadSleep(Ms: Cardinal);
procedure DoEvent(Ms: Cardinal);
procedure DoRtlEvent(Ms: Cardinal);
procedure DoJoin(Ms: Cardinal);

const
  NamedWaits: array[0..4] of TNamedWait = (
    (Name: 'Sleep'; Wait: @DoSleep),
    (Name: 'TThread.Sleep'; Wait: @DoThreadSleep),
    (Name: 'TEvent.WaitFor'; Wait: @DoEvent),
    (Name: 'RTLEventWaitFor'; Wait: @DoRtlEvent),
    (Name: 'TThread.WaitFor'; Wait: @DoJoin));

procedure MeasureWait(const Wait: TNamedWait; Requested: Int64; Count: Integer);

implementation

uses
  classes, sysutils, syncobjs, ProbeLines, Workers;

var
  Event: TEvent;
  RtlEvent: PRTLEvent;

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

initialization
  Event := TEvent.Create(nil, True, False, '');
  RtlEvent := RTLEventCreate;
end.
