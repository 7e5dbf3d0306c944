import type { ServiceStatus } from './store.ts'

/** What the hub carries for an instance: its new state, that its pull has come further, or its end. */
export type ServiceEvent = { status: ServiceStatus } | { pulled: true } | { deleted: true }
