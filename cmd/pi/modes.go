package main

import (
	"context"
	"errors"
)

func (p *process) serve(ctx context.Context) (int, error)       { return 0, errors.New("todo") }
func (p *process) streamJSON(ctx context.Context) (int, error)  { return 0, errors.New("todo") }
func (p *process) printAnswer(ctx context.Context) (int, error) { return 0, errors.New("todo") }
