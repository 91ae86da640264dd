package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/seed-54e836f5/pi/core/provider"
)

// refused makes the error of a response that is no success, and closes it.
func (x *Exchange) refused(resp *http.Response) *provider.Error {
	x.startClock()
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestBody))
	x.stopClock()
	_ = resp.Body.Close() // what was wanted of it was read
	if x.ctx.Err() != nil {
		return x.interrupted(x.ctx.Err())
	}
	if err != nil && len(body) == 0 {
		body = []byte("the body could not be read: " + err.Error())
	}
	if to := resp.Header.Get("Location"); resp.StatusCode/100 == 3 && to != "" {
		return &provider.Error{
			Class:  provider.Invalid,
			Status: resp.StatusCode,
			Message: x.scrub(fmt.Sprintf("%d the service redirects to %s; requests are not redirected, so set baseUrl of the provider to where it leads",
				resp.StatusCode, to)),
		}
	}
	return x.rejected(resp.StatusCode, resp.Header, body)
}

// rejected makes the error of a body that is no answer.
func (x *Exchange) rejected(status int, header http.Header, body []byte) *provider.Error {
	failure := &provider.Error{Status: status, RetryAfter: retryAfter(header)}
	inStream := status
	if status/100 == 2 {
		inStream = 0 // the status says nothing about the failure
	}
	failure.Class = provider.Classify(inStream, string(body))
	if x.service.Classify != nil {
		class, wait := x.service.Classify(inStream, body)
		failure.Class = class
		if failure.RetryAfter == 0 {
			failure.RetryAfter = wait
		}
	}
	if text := strings.TrimSpace(string(body)); status/100 == 2 && strings.HasPrefix(text, "<") {
		failure.Class = provider.Invalid
		failure.Message = x.scrub("the server answered with a page in place of a stream; check baseUrl of the provider: " + shorten(text, 200))
		return failure
	}
	failure.Message = x.scrub(shorten(x.service.Describe(status, body), longestMessage))
	return failure
}

// InStream makes the error of a failure that the service reports inside the
// stream: status is the number it gives for it, 0 for none; text what it says.
func (x *Exchange) InStream(status int, text string) *provider.Error {
	return &provider.Error{
		Class:   provider.Classify(status, text),
		Status:  status,
		Message: x.scrub(shorten(text, longestMessage)),
	}
}

// interrupted makes the error of a stream that broke off.
func (x *Exchange) interrupted(err error) *provider.Error {
	if x.parent.Err() != nil {
		return provider.Abort(x.parent.Err())
	}
	if errors.Is(context.Cause(x.ctx), errIdle) {
		return &provider.Error{
			Class:   provider.Retryable,
			Message: fmt.Sprintf("timeout: the service sent nothing for %s", x.options.IdleTimeout),
			Err:     err,
		}
	}
	return &provider.Error{Class: provider.Retryable, Message: x.scrub("the stream was cut off: " + err.Error()), Err: err}
}

// Cut is the error of a stream that ended before the answer was complete.
func Cut() *provider.Error {
	return &provider.Error{
		Class:   provider.Retryable,
		Message: "the stream was cut off: it ended before the answer did",
		Err:     io.ErrUnexpectedEOF,
	}
}

// Garbled is the error of an event that is not what it should be.
func Garbled(data []byte) *provider.Error {
	return &provider.Error{
		Class:   provider.Retryable,
		Message: fmt.Sprintf("the stream was damaged: an event is not readable: %s", shorten(string(data), 200)),
	}
}
