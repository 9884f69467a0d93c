// Waits and clocks as a .NET program calls them. The protocol is in ../PROTOCOL.md.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

static class Probe
{
    const long Milli = 1000000;
    const int Reads = 1000;

    sealed class Wait
    {
        public string Name;
        public Action<long> Do;
        // What the call is given for a request: a TimeSpan counts 100 ns, an int milliseconds.
        public long Unit;
    }

    sealed class Clock
    {
        public string Name;
        public Func<long> Read;
    }

    static readonly object Monitored = new object();
    static readonly ManualResetEventSlim Never = new ManualResetEventSlim(false);

    static TimeSpan Span(long ns) { return new TimeSpan(ns / 100); }

    static readonly Wait[] Waits =
    {
        new Wait { Name = "Thread.Sleep(int)", Unit = Milli, Do = ns => Thread.Sleep((int)(ns / Milli)) },
        new Wait { Name = "Thread.Sleep(TimeSpan)", Unit = 100, Do = ns => Thread.Sleep(Span(ns)) },
        new Wait { Name = "Task.Delay", Unit = 100, Do = ns => Task.Delay(Span(ns)).Wait() },
        new Wait { Name = "ManualResetEventSlim.Wait", Unit = 100, Do = ns => Never.Wait(Span(ns)) },
        new Wait { Name = "Monitor.Wait", Unit = 100, Do = ns => { lock (Monitored) Monitor.Wait(Monitored, Span(ns)); } },
    };

    static readonly Clock[] Clocks =
    {
        new Clock { Name = "Stopwatch.GetTimestamp", Read = Now },
        new Clock { Name = "Environment.TickCount", Read = () => Environment.TickCount * Milli },
        new Clock { Name = "DateTime.UtcNow", Read = () => DateTime.UtcNow.Ticks * 100 },
    };

    static long Now()
    {
        long ticks = Stopwatch.GetTimestamp(), perSecond = Stopwatch.Frequency;
        return ticks / perSecond * 1000000000 + ticks % perSecond * 1000000000 / perSecond;
    }

    static void Emit(string record)
    {
        Console.Out.Write("{" + record + "}\n");
        Console.Out.Flush();
    }

    static string List(IEnumerable<long> values) { return "[" + string.Join(",", values) + "]"; }

    static void Skip(string op, string why)
    {
        var ascii = new string(why.Select(c => c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c).ToArray());
        Emit("\"type\":\"skip\",\"op\":\"" + op + "\",\"why\":\"" + ascii + "\"");
    }

    static void MeasureWait(Wait wait, long requested, int count)
    {
        for (int i = 0; i < 10; i++) wait.Do(Milli / 10); // until it is compiled
        long[] t = new long[count], d = new long[count];
        int collections = GC.CollectionCount(0);
        var cpu = Process.GetCurrentProcess().TotalProcessorTime;
        for (int i = 0; i < count; i++)
        {
            t[i] = Now();
            wait.Do(requested);
            d[i] = Now() - t[i];
        }
        var used = Process.GetCurrentProcess().TotalProcessorTime - cpu;
        Emit("\"type\":\"s\",\"op\":\"" + wait.Name + "\",\"requested\":" + requested + ",\"rounded\":"
            + requested / wait.Unit * wait.Unit + ",\"n\":" + count + ",\"unit\":\"ns\",\"t\":" + List(t) + ",\"d\":" + List(d)
            + ",\"cpu\":" + used.Ticks * 100 + ",\"gc\":" + (GC.CollectionCount(0) - collections));
    }

    static long Batch(Clock clock)
    {
        long start = Now();
        for (int k = 0; k < Reads; k++) clock.Read();
        return Now() - start;
    }

    static void MeasureClock(Clock clock, int count)
    {
        for (int i = 0; i < 5; i++) Batch(clock);
        var d = new long[count];
        for (int i = 0; i < count; i++) d[i] = Batch(clock);
        var steps = new List<long>();
        long until = Now() + 40 * Milli, last = clock.Read();
        while (steps.Count < 16 && Now() < until)
        {
            long next = clock.Read();
            if (next > last) steps.Add(next - last);
            last = next;
        }
        Emit("\"type\":\"c\",\"op\":\"" + clock.Name + "\",\"n\":" + count + ",\"reads\":" + Reads + ",\"d\":" + List(d)
            + ",\"step\":" + List(steps));
    }

    static void Run(string token)
    {
        var parts = token.Split('@');
        string op = parts[0];
        long requested = long.Parse(parts[1]);
        int count = int.Parse(parts[2]);
        var wait = Waits.FirstOrDefault(one => one.Name == op);
        var clock = Clocks.FirstOrDefault(one => one.Name == op);
        try
        {
            if (wait != null) MeasureWait(wait, requested, count);
            else if (clock != null) MeasureClock(clock, count);
            else Skip(op, ".NET has no such call here");
        }
        catch (Exception error)
        {
            Skip(op, error.Message);
        }
    }

    static int Main(string[] tokens)
    {
        string runtime = Type.GetType("Mono.Runtime") == null ? "dotnet" : "mono";
        Emit("\"type\":\"hello\",\"proto\":1,\"runtime\":\"" + runtime + "\",\"version\":\"" + Environment.Version
            + "\",\"clock\":\"Stopwatch\",\"pid\":" + Process.GetCurrentProcess().Id + ",\"now\":" + Now());
        foreach (var token in tokens)
        {
            if (token != "list")
            {
                Run(token);
                continue;
            }
            foreach (var wait in Waits) Emit("\"type\":\"op\",\"op\":\"" + wait.Name + "\",\"kind\":\"wait\"");
            foreach (var clock in Clocks) Emit("\"type\":\"op\",\"op\":\"" + clock.Name + "\",\"kind\":\"clock\"");
        }
        Emit("\"type\":\"end\",\"now\":" + Now());
        return 0;
    }
}
