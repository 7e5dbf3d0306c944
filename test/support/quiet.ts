import { journal } from '../../src/platform/journal.ts'

// One line for each request would bury what a failing test has to say; warnings and errors stay.
journal.info = () => {}
