import type { ContainerSummary } from '../docker/index.ts'
import { Button, PostForm } from '../web/form.tsx'
import type { ContainerOwner } from './find.ts'
import { isUp } from '../runtime/workload.ts'
import { containerPath } from './place.ts'
import { isKept } from './row.ts'

type Props = {
  container: Pick<ContainerSummary, 'id' | 'name' | 'state'>
  place: ContainerOwner
  /** The selector of the element that the response replaces. */
  target: string
}

/** Asks for confirmation if another program created the container. */
export const ContainerActions = (props: Props) => {
  const { state } = props.container
  if (state === 'removing' || state === 'dead' || isKept(props.place)) return null
  if (!isUp(props.container)) return <Action {...props} verb="restart" label="Start" />
  return (
    <>
      <Action {...props} verb="restart" label="Restart" />
      <Action {...props} verb="stop" label="Stop" />
    </>
  )
}

const Action = ({
  container,
  place,
  target,
  verb,
  label,
}: Props & { verb: 'stop' | 'restart'; label: string }) => {
  const path = `${containerPath(container)}/${verb}`
  const question = {
    text: `${container.name} isn’t managed by Davit: another program on this server created it and may rely on it. ${label} it anyway?`,
    answer: `${label} container`,
  }
  return (
    <PostForm
      action={path}
      replaces={target}
      hx-swap="outerMorph"
      question={place.kind === 'other' ? question : undefined}
    >
      <Button
        icon={verb === 'stop' ? 'square' : label === 'Start' ? 'play' : 'rotate-cw'}
        variant="outline"
        small
        aria-label={`${label} ${container.name}`}
      >
        {label}
      </Button>
    </PostForm>
  )
}
