import { beforeEach, setSystemTime } from 'bun:test'
import { newest } from '../../src/db/new-id.ts'
import { journal } from '../../src/platform/journal.ts'

// One line for each request would bury what a failing test has to say; warnings and errors stay.
journal.info = () => {}

// Files share a process: a clock that one has put forward isn't the next one's, nor is the time of its ids.
beforeEach(() => {
  setSystemTime()
  newest.time = 0
})
