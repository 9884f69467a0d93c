{ Threads that wait, or compute. }
unit Workers;

{$mode objfpc}{$H+}

interface

uses
  classes;

type
  TWorker = class(TThread)
    Ms: Cardinal;
    Units: Int64;
    procedure Execute; override;
  end;

procedure Compute(Units: Int64);
{ Computes for so many units, or sleeps if there are none. }
function Started(Ms: Cardinal; Units: Int64): TWorker;

implementation

uses
  sysutils;

var
  Sink: Int64;

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

end.
