<?php

namespace Pages;

class Page
{
    public static function text(): string
    {
        return \Normalizer::normalize('Hello, world');
    }
}
