{ What the parts of the probe share: time in nanoseconds, and the lines of the protocol. }
unit ProbeLines;

{$mode objfpc}{$H+}

interface

const
  Milli = 1000000;

type
  TValues = array of Int64;

function NowNs: Int64;
function ReadTickCount: Int64;
procedure Emit(const Fields: string);
function List(const Values: TValues): string;
{ `By`: another clock that the durations come from. }
procedure Report(const Op, By: string; Requested, Rounded: Int64; const T, D: TValues);

implementation

uses
  {$ifdef unix}unixtype, {$endif}
  {$ifdef linux}linux, {$endif}
  {$ifdef windows}windows, {$endif}
  sysutils;

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

function ReadTickCount: Int64;
begin
  Result := Int64(GetTickCount64) * Milli;
end;

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

end.
