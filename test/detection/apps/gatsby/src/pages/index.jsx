import React from 'react'

export default function Page() {
  return <p>Hello, world</p>
}
