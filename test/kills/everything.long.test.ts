import { test } from 'bun:test'
import { everything } from './everything.ts'
import { killDuring } from './harness.ts'

test(
  'killed at any moment, Davit leaves nothing standing still, lost or without an owner',
  () => killDuring(everything),
  180_000,
)
