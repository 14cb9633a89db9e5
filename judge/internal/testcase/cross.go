package testcase

import "fmt"

// Cross returns a case for each behavior at each place, with documents of the sizes. start starts
// the server of the case and returns it, so that the faults can be armed.
func Cross(scheme string, task Task, places []Place, behaviors []Behavior, sizes []int64, start func(*Run) Server) (all []Case) {
	for _, p := range places {
		for _, b := range behaviors {
			if !b.fits(p) {
				continue
			}
			for _, size := range sizes {
				if size < b.Least {
					continue
				}
				c := Case{
					Name: fmt.Sprintf("%s/%s/%s/%s", scheme, task, p.At, b.Name), Scheme: scheme, Task: task,
					Does: b.of(p), Source: b.Source, Waits: b.Waits,
					Gets: b.Gets == Gets || b.Gets == ifSpare && p.Spare,
				}
				if len(sizes) > 1 {
					c.Name += fmt.Sprintf("/%d", size)
				}
				c.Should = c.Expected()
				c.set = func(r *Run) {
					r.Goal.Size = size
					srv := start(r)
					for _, at := range p.where() {
						r.Arm(srv, at, 0, b.Acts(size)...)
					}
				}
				all = append(all, c)
			}
		}
	}
	return all
}
