import type { Registry } from './store.ts'

export const registryJson = ({ id, host, username, createdAt }: Registry) => ({
  id,
  host,
  username,
  createdAt,
})
