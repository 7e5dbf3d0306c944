import type { DavitClient } from './client.ts'

export type Backup = {
  id: string
  status: string
  error: { message: string } | null
  bytes: number
  addedBytes: number
  rows: number | null
  contents: { databases: { tables: unknown[] }[] }[] | null
  finishedAt: string | null
  proving: boolean
  proven: { error: string | null; seconds: number; rows: number | null } | null
  untested: string | null
  restore: { status: string; error: string | null; before: string | null } | null
}

/** Each ends with the backup as it is then, and throws the reason of what failed. */
export function backupsOf(davit: DavitClient, serviceId: string, targetId: string) {
  const until = async (id: string, isSo: (backup: Backup) => boolean) => {
    for (;;) {
      const backup = await davit.get<Backup>(`/backups/${id}`)
      if (isSo(backup)) return backup
      await Bun.sleep(50)
    }
  }
  return {
    async backUp() {
      const { id } = await davit.post<Backup>(`/services/${serviceId}/backups`, { targetId })
      const backup = await until(id, ({ finishedAt }) => finishedAt !== null)
      if (backup.status !== 'succeeded') throw new Error(backup.error?.message ?? backup.status)
      return backup
    },
    async prove({ id }: Backup) {
      await davit.post(`/backups/${id}/prove`)
      const backup = await until(id, ({ proving }) => !proving)
      const error = backup.untested ?? backup.proven?.error
      if (!backup.proven || error) throw new Error(error ?? 'The proof was cancelled.')
      return backup
    },
    async restore({ id }: Backup, { backupFirst }: { backupFirst: boolean }) {
      await davit.post(`/backups/${id}/restore`, { backupFirst })
      const isOver = ({ restore }: Backup) => !/pending|running/.test(restore?.status ?? '')
      const backup = await until(id, isOver)
      if (backup.restore?.status !== 'succeeded')
        throw new Error(backup.restore?.error ?? 'The restore was cancelled.')
      return backup
    },
  }
}
