import type { ServiceStatus } from './store.ts'

/** What the hub carries for an instance: its new state, or that its pull has come further. */
export type ServiceEvent = { status: ServiceStatus } | { pulled: true }
