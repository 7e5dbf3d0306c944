import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { At, In } from '../web/times.tsx'
import type { Freeze } from './freeze-store.ts'

export const freezesPath = (environmentId: string) => `/envs/${environmentId}/freezes`

/** Says in which time nothing is deployed, with what changes and ends it. */
export const FreezeNote = ({ id, environmentId, from, until, reason }: Freeze) => {
  const path = `${freezesPath(environmentId)}/${id}`
  const isNow = from.getTime() <= Date.now()
  return (
    <div class="note pending planned">
      <p>
        Frozen{' '}
        {!isNow && (
          <>
            from <At at={from} />{' '}
          </>
        )}
        until <At at={until} />, <In at={isNow ? until : from} />: <bdi>{reason}</bdi>
      </p>
      <div class="actions">
        <ButtonLink small variant="outline" opens={`${path}/edit`}>
          Change…
        </ButtonLink>
        <PostForm action={path} method="DELETE">
          <Button small variant="outline">
            {isNow ? 'End freeze' : 'Remove freeze'}
          </Button>
        </PostForm>
      </div>
    </div>
  )
}
