package check

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
)

// A cleanup or finalizer that the runtime runs during a test is no leak of the test's.
func TestGoroutinesOfRuntime(t *testing.T) {
	for name, arm := range map[string]func(p *[16]byte, run func()){
		"cleanup":   func(p *[16]byte, run func()) { runtime.AddCleanup(p, func(int) { run() }, 0) },
		"finalizer": func(p *[16]byte, run func()) { runtime.SetFinalizer(p, func(*[16]byte) { run() }) },
	} {
		t.Run(name, func(t *testing.T) {
			running, done, end := make(chan struct{}), make(chan struct{}), make(chan struct{})
			arm(new([16]byte), func() {
				close(running)
				<-end
				close(done)
			})
			for started := false; !started; {
				runtime.GC()
				select {
				case <-running:
					started = true
				default:
					runtime.Gosched()
				}
			}
			for _, stack := range goroutines() {
				if strings.Contains(stack, "TestGoroutinesOfRuntime") {
					t.Errorf("counted:\n%s", stack)
				}
			}
			close(end)
			<-done
		})
	}
}

// With a fake clock only the goroutines of the test's own bubble count.
func TestGoroutinesOfBubble(t *testing.T) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() { <-end; close(ended) }()
	synctest.Test(t, func(t *testing.T) {
		own := make(chan struct{})
		go func() { <-own }()
		synctest.Wait()
		var started []string
		for _, stack := range goroutines() {
			if strings.Contains(stack, "TestGoroutinesOfBubble") {
				started = append(started, stack)
			}
		}
		if len(started) != 1 {
			t.Errorf("%d goroutines, want the one of the bubble:\n%s", len(started), strings.Join(started, "\n\n"))
		}
		close(own)
	})
	close(end)
	<-ended
}
