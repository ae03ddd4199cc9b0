"""Queries for an engine about a trace; rows are compared as a multiset.

The queries avoid ids that the engine generates: a string pid becomes a different number each time. Sums use remainders where
they could overflow, so that one nanosecond more in one event is visible; a sum over all is exact to the nanosecond."""

WHERE = """from slice s left join thread_track tt on tt.id = s.track_id left join thread t using (utid)
  left join process_track pt on pt.id = s.track_id left join process p on p.upid = coalesce(t.upid, pt.upid)"""

QUERIES = {
    'slices': """select count(*) as slices, sum(iif(dur < 0, 0, dur)) as dur, sum(dur < 0) as unfinished,
                 sum(ts % 1000000007) as ts, max(depth) as deepest, count(distinct track_id) as tracks from slice""",
    'depths': 'select depth, count(*) as n from slice group by depth',
    'names': f"""select p.name as process, t.name as thread, s.name, s.category, count(*) as n, sum(s.dur) as dur
                 {WHERE} group by 1, 2, 3, 4""",
    'threads': 'select p.name as process, t.name as thread, count(*) as n from thread t left join process p using (upid) group by 1, 2',
    'processes': 'select name, count(*) as n from process group by 1',
    'counters': """select ct.name, count(*) as n, total(c.value) as sum, sum(c.ts % 1000000007) as ts
                   from counter c join counter_track ct on ct.id = c.track_id group by 1""",
    'flows': """select a.name as source, b.name as target, count(*) as n, sum(a.ts % 1000000007) as ts, sum(b.ts % 1000000007) as end
                from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in group by 1, 2""",
    # Slices with equal args share one arg set.
    'args': """with sets as materialized (select arg_set_id, count(*) as c from slice group by 1)
               select flat_key, value_type, sum(c) as n, sum(c * (int_value % 1000000007)) as ints,
               printf('%.6g', total(c * real_value)) as reals, sum(c * length(string_value)) as chars, count(distinct string_value) as strings
               from sets join args using (arg_set_id) group by 1, 2""",
    'errors': "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
}

# Flows by the processes at their two ends, and slices and counters by process: a merge must keep these separate.
MERGED = {
    'arrows': f"""with at as (select s.id as slice, coalesce(p.name, '') as process {WHERE})
                 select a.process as source, b.process as target, count(*) as n
                 from flow f join at a on a.slice = f.slice_out join at b on b.slice = f.slice_in group by 1, 2""",
    'rows': f"""select p.name as process, count(*) as n {WHERE} group by 1
                union all select p.name, count(*) from counter c join process_counter_track t on t.id = c.track_id
                join process p using (upid) group by 1""",
    'machines': 'select count(*) as n from machine',
    'declared': 'select name from process where name is not null',
    'slices': 'select count(*) as n, sum(iif(dur < 0, 0, dur)) as dur from slice',
    'used': f'select count(distinct t.upid) as processes, count(distinct t.utid) as threads {WHERE}',
}
